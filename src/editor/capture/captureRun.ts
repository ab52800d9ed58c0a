import { randomUUID } from 'node:crypto';
import { relative, sep } from 'node:path';
import type { Disposable } from '../../base/disposable';
import { HoldfastError, messageOf } from '../../base/errors';
import type { Event } from '../../base/event';
import type { Admission } from '../../runner/admission';
import type { RunRequest, Runs } from '../runs';
import type { SessionsModel } from '../sessions/sessionsModel';
import type { Baseline, FileChange, FileState } from './baseline';
import { captureLimits } from './limits';
import type { CapturedFile, CapturedState, CaptureRecord } from './record';
import type { CaptureStore } from './store';
import { textBytesOf } from './textRoom';

/** One workspace folder. */
export interface CapturedFolder {
  /** Absolute. */
  readonly path: string;
  readonly baseline: Pick<Baseline, 'refresh' | 'changes'>;
  /** The editor's globs of what does not count. */
  readonly excluded: readonly string[];
}

export interface CaptureRunParts {
  readonly admission: Pick<Admission, 'capture'>;
  readonly runs: Pick<Runs, 'perform' | 'get' | 'onDidChange'>;
  readonly model: Pick<SessionsModel, 'sessions'>;
  readonly store: Pick<CaptureStore, 'add'>;
  readonly folders: readonly CapturedFolder[];
  /** The editor is about to save a file, or has saved it: its absolute path. */
  readonly onSave: Event<string>;
  /** Shows that work goes on. The person's cancel aborts the signal. */
  during<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  readonly now: () => number;
}

/**
 * Runs code with nothing else writing that Holdfast knows of, and keeps what it did to the files of the workspace. Rejects
 * with `capture_busy`, before anything is run, where something else goes on; and with the signal's reason, where a person
 * left before the run. A run that they cancel is kept with what it had done; one whose changes can't be found, or are not
 * waited for, with a note.
 */
export function captureRun(request: RunRequest, parts: CaptureRunParts): Promise<CaptureRecord> {
  return parts.admission.capture(() => captured(request, parts));
}

async function captured(request: RunRequest, parts: CaptureRunParts): Promise<CaptureRecord> {
  assertNothingRuns(parts.model);
  const { folders, now, during } = parts;
  await during('Looking at the files of the workspace…', async (signal) => {
    for (const { baseline, excluded } of folders) await baseline.refresh(excluded, signal);
  });
  // They may have come by a way that takes no leave, as runs of the window before this one.
  assertNothingRuns(parts.model);
  const saved = new Set<string>();
  const saves = parts.onSave((path) => saved.add(path));
  const startedAt = now();
  try {
    const run = await during('Running with capture…', (signal) => perform(request, parts, signal));
    const endedAt = now();
    // The code has run: what is known of that is kept, whatever goes wrong from here on.
    const { changes, notes } = await during('Looking for what the run changed…', (signal) =>
      changesOf(folders, startedAt, signal),
    );
    const files = changes.map((change) => fileOf(change, saved));
    const record: CaptureRecord = {
      version: 1,
      id: `${new Date(startedAt).toISOString().replace(/\D/g, '')}-${randomUUID().slice(0, 8)}`,
      code: request.code,
      ...(request.source && { source: { ...request.source } }),
      ...run,
      ...{ startedAt, endedAt, files, notes: [...notes] },
    };
    await keep(record, textsOf(changes), parts.store);
    return record;
  } finally {
    saves.dispose();
  }
}

async function keep(
  record: CaptureRecord,
  texts: ReadonlyMap<string, Uint8Array>,
  store: Pick<CaptureStore, 'add'>,
): Promise<void> {
  try {
    await store.add(record, texts);
  } catch (error) {
    throw new Error(`The code has run, but its capture could not be kept: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function assertNothingRuns(model: Pick<SessionsModel, 'sessions'>): void {
  const runs = model
    .sessions()
    .some(({ state }) => state.kind === 'busy' && state.execution.isPreparation !== true);
  if (!runs) return;
  throw new HoldfastError(
    'capture_busy',
    "A run with capture can't begin while another run of this window goes on. Try again when that is over.",
  );
}

type RunFacts = Pick<
  CaptureRecord,
  'executionId' | 'language' | 'session' | 'exitCode' | 'failure'
>;

async function perform(
  request: RunRequest,
  { runs, model }: CaptureRunParts,
  signal: AbortSignal,
): Promise<RunFacts> {
  let executionId = '';
  let label = '';
  let session: { id: string; incarnation: number } | undefined;
  const look = (): void => {
    label = runs.get(executionId)?.sessionLabel ?? label;
    const found = model
      .sessions()
      .find(({ state }) => state.kind === 'busy' && state.execution.id === executionId);
    if (found) session = { id: found.id, incarnation: found.incarnation };
  };
  const following: Disposable = runs.onDidChange(look);
  try {
    const result = await runs.perform({ ...request, signal }, (id) => {
      executionId = id;
      look();
    });
    const { exitCode } = result;
    return {
      ...{ executionId, language: 'python', session: { label, ...session } },
      ...(exitCode !== undefined && { exitCode }),
    };
  } catch (error) {
    // Nothing has begun, and so there is nothing to keep.
    if (executionId === '') throw error;
    return {
      ...{ executionId, language: 'python', session: { label, ...session } },
      failure: messageOf(error),
    };
  } finally {
    following.dispose();
  }
}

interface ChangeIn extends FileChange {
  readonly folder: string;
}

async function changesOf(
  folders: readonly CapturedFolder[],
  since: number,
  signal: AbortSignal,
): Promise<{ readonly changes: readonly ChangeIn[]; readonly notes: readonly string[] }> {
  const changes: ChangeIn[] = [];
  const notes = new Set<string>();
  let room = captureLimits.maxKeptBytes;
  for (const { path, baseline } of folders) {
    try {
      const found = await baseline.changes(since, signal, room);
      for (const change of found.changes) {
        changes.push({ folder: path, ...change });
        room -= textBytesOf(change);
      }
      for (const note of found.notes) notes.add(note);
    } catch (error) {
      if (signal.aborted) {
        notes.add('The look for what the run changed was cancelled; changes are missing.');
        break;
      }
      notes.add(`What the run changed in ${path} is not known: ${messageOf(error)}`);
    }
  }
  return { changes, notes: [...notes] };
}

function fileOf(
  { folder, path, kind, before, after }: ChangeIn,
  saved: ReadonlySet<string>,
): CapturedFile {
  const isSaved = [...saved].some((file) => relative(folder, file).split(sep).join('/') === path);
  return {
    ...{ folder, path, kind },
    ...(before && { before: stateOf(before) }),
    ...(after && { after: stateOf(after) }),
    ...(isSaved && { isSavedInEditor: true as const }),
  };
}

function stateOf({ bytes, sha256, text }: FileState): CapturedState {
  return { bytes, ...(sha256 !== undefined && { sha256 }), isKept: text !== undefined };
}

function textsOf(changes: readonly FileChange[]): ReadonlyMap<string, Uint8Array> {
  const texts = new Map<string, Uint8Array>();
  for (const { before, after } of changes) {
    for (const state of [before, after]) {
      if (state?.sha256 !== undefined && state.text) texts.set(state.sha256, state.text);
    }
  }
  return texts;
}
