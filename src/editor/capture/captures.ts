import * as vscode from 'vscode';
import { HoldfastError, messageOf } from '../../base/errors';
import { Emitter } from '../../base/event';
import type { Log } from '../../base/log';
import type { Transcript } from '../panel/transcript';
import type { RunRequest } from '../runs';
import { assertTrusted } from '../trust';
import { BaselineThread } from './baselineThread';
import { captureRun, type CapturedFolder, type CaptureRunParts } from './captureRun';
import { provideCapturedTexts, showChanges } from './changesPick';
import { captureLimits } from './limits';
import type { CaptureRecord } from './record';
import { CaptureStore } from './store';
import { capturedInWords, endInWords } from './words';

export type CapturesParts = Pick<CaptureRunParts, 'admission' | 'runs' | 'model'> & {
  readonly transcript: Pick<Transcript, 'note' | 'shownRun'>;
  /** The extension's folder for this workspace. */
  readonly storage: vscode.Uri;
  /** Path of the bundle that runs on the capture's own thread. */
  readonly script: string;
  isEnabled(): boolean;
  readonly log: Log;
  /** Tells the person. */
  onFailure(error: unknown): void;
};

/** Runs with capture of this window, and what they have kept. */
export class Captures implements vscode.Disposable {
  private readonly store: CaptureStore;
  private readonly baselines = new Map<string, BaselineThread>();
  private readonly texts: vscode.Disposable;

  constructor(private readonly parts: CapturesParts) {
    this.store = new CaptureStore(vscode.Uri.joinPath(parts.storage, 'captures').fsPath);
    this.texts = provideCapturedTexts(this.store);
    this.store.sweep(Date.now()).catch((error: unknown) => {
      parts.log.warn(`What is left of captures that failed is not removed: ${messageOf(error)}`);
    });
  }

  async run(request: RunRequest): Promise<void> {
    assertTrusted();
    if (!this.parts.isEnabled()) {
      throw new HoldfastError(
        'capture_unavailable',
        'Captures are switched off by the setting "holdfast.capture.enabled". Nothing was run.',
      );
    }
    const folders = this.folders();
    if (folders.length === 0) {
      throw new HoldfastError('bad_input', 'Open a folder to run code with capture.');
    }
    const saved = new Emitter<string>();
    const saves = followSaves(saved);
    try {
      const { admission, runs, model } = this.parts;
      const record = await captureRun(request, {
        ...{ admission, runs, model, folders, during },
        store: this.store,
        onSave: saved.event,
        now: Date.now,
      });
      this.note(record);
      this.tell(record).catch((error: unknown) => this.parts.onFailure(error));
    } catch (error) {
      if (error instanceof CancelledByPerson) return;
      throw withCode(error);
    } finally {
      saves.dispose();
    }
  }

  show(): Promise<void> {
    return showChanges(this.store);
  }

  dispose(): void {
    this.texts.dispose();
    for (const baseline of this.baselines.values()) {
      baseline.dispose().catch((error: unknown) => {
        this.parts.log.warn(`What a capture had read is not let go of: ${messageOf(error)}`);
      });
    }
    this.baselines.clear();
  }

  private folders(): readonly CapturedFolder[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    return folders
      .filter(({ uri }) => uri.scheme === 'file')
      .map(({ uri }) => ({
        path: uri.fsPath,
        baseline: this.baselineOf(uri.fsPath),
        excluded: excludedIn(uri),
      }));
  }

  private baselineOf(root: string): BaselineThread {
    const known = this.baselines.get(root);
    if (known) return known;
    const storage = vscode.Uri.joinPath(this.parts.storage, 'capture-baseline').fsPath;
    const made = new BaselineThread(this.parts.script, { root, storage, limits: captureLimits });
    this.baselines.set(root, made);
    return made;
  }

  private note(record: CaptureRecord): void {
    const { transcript } = this.parts;
    const shown = transcript.shownRun(record.executionId);
    if (shown) transcript.note(shown.sessionKey, capturedInWords(record));
  }

  private async tell(record: CaptureRecord): Promise<void> {
    const show = 'Show Changes';
    const actions = record.files.length > 0 ? [show] : [];
    const chosen = await vscode.window.showInformationMessage(endInWords(record), ...actions);
    if (chosen === show) await showChanges(this.store, record);
  }
}

/** Globs that a person has excluded from view or search. Those that hang on other files are left out. */
function excludedIn(folder: vscode.Uri): readonly string[] {
  return ['files', 'search'].flatMap((section) => {
    const value: unknown = vscode.workspace.getConfiguration(section, folder).get('exclude');
    return Object.entries((value ?? {}) as Record<string, unknown>).flatMap(([glob, isExcluded]) =>
      isExcluded === true ? [glob] : [],
    );
  });
}

function followSaves(saved: Emitter<string>): vscode.Disposable {
  const tell = ({ document }: { readonly document: vscode.TextDocument }): void => {
    if (document.uri.scheme === 'file') saved.fire(document.uri.fsPath);
  };
  return vscode.Disposable.from(
    saved,
    vscode.workspace.onWillSaveTextDocument(tell),
    vscode.workspace.onDidSaveTextDocument((document) => tell({ document })),
  );
}

/** A person left: before anything was run, or without waiting for what it changed. */
class CancelledByPerson extends Error {}

async function during<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title, cancellable: true }, (_, token) => {
    const controller = new AbortController();
    token.onCancellationRequested(() => controller.abort(new CancelledByPerson(title)));
    return work(controller.signal);
  });
}

/** Refusals say their code: programs and people look for it. */
function withCode(error: unknown): unknown {
  if (!(error instanceof HoldfastError)) return error;
  if (error.code !== 'capture_busy' && error.code !== 'capture_unavailable') return error;
  return new HoldfastError(error.code, `${error.message} (${error.code})`, { cause: error });
}
