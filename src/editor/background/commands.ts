import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import { activePython, placeOf } from '../place';
import { reveal } from '../reveal';
import type { Place } from '../runs';
import { backgroundOfRow } from '../sessions/row';
import type { SessionTarget } from '../sessions/target';
import { pickCell } from '../selection/cells';
import { pickCode, pickDocument, type PickedCode } from '../selection/pickCode';
import { assertTrusted } from '../trust';
import type { Panel } from '../panel/panelView';
import type { BackgroundActions } from './backgroundActions';
import type { BackgroundWork } from './backgroundWork';
import { keyOf, labelOf } from './session';
import type { BackgroundSnapshot } from '../../runner/backgroundTypes';

interface BackgroundCommandParts {
  readonly work: BackgroundWork;
  readonly actions: BackgroundActions;
  readonly panel: Pick<Panel, 'show'>;
  /** The session that a place's code runs in: its folder and interpreter count here too. */
  resolve(place: Place): Promise<SessionTarget>;
  /** A person has asked for a run. */
  onBegin(): void;
  onFailure(error: unknown): void;
}

type Command = (...given: readonly unknown[]) => unknown;

const MESSAGE_MS = 4_000;

/** Menus of the Sessions tree pass the id of a row, the lens above a cell its document and line. */
function commandTable(parts: BackgroundCommandParts): Record<string, Command> {
  const { actions, panel } = parts;
  const onRun =
    (
      act: (run: BackgroundSnapshot) => unknown,
      filter = (_run: BackgroundSnapshot) => true,
    ): Command =>
    async (row) => {
      const run = await runOf(parts.work, row, filter);
      if (run) await act(run);
    };
  return {
    runInBackground: () => runSelection(parts),
    runFileInBackground: (uri) => runFile(parts, uri),
    runCellInBackground: (uri, line) => runCell(parts, uri, line),
    interruptBackground: onRun((run) => actions.interrupt(run.executionId), isGoing),
    killBackground: onRun((run) => actions.kill(run.executionId), isGoing),
    removeBackground: onRun(
      (run) => actions.remove(run.executionId),
      ({ done }) => done,
    ),
    showBackground: onRun((run) => panel.show(keyOf(run.request))),
    revealBackground: onRun(revealCode, ({ request }) => request.source !== undefined),
    openBackgroundOutput: onRun(openOutput, ({ artifact }) => artifact !== undefined),
  };
}

export function registerBackgroundCommands(parts: BackgroundCommandParts): Disposable {
  const registered = Object.entries(commandTable(parts)).map(([name, act]) =>
    vscode.commands.registerCommand(`holdfast.${name}`, async (...given: unknown[]) => {
      try {
        await act(...given);
      } catch (error) {
        parts.onFailure(error);
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

const isGoing = ({ done }: BackgroundSnapshot): boolean => !done;

async function runSelection(parts: BackgroundCommandParts): Promise<void> {
  assertTrusted();
  const editor = activePython();
  if (!editor) return hint('Open a Python file to run code from it.');
  const picked = pickCode(linesOf(editor.document), editor.selections);
  if (!picked) return hint('There is no code at the cursor or below it.');
  await launch(parts, editor.document, picked);
}

async function runFile(parts: BackgroundCommandParts, uri: unknown): Promise<void> {
  assertTrusted();
  const document = documentOf(uri);
  const picked = document && pickDocument(linesOf(document));
  if (!document || !picked) return hint('Open a Python file that has code to run it.');
  const label = document.uri.path.split('/').at(-1);
  await launch(parts, document, picked, label);
}

async function runCell(parts: BackgroundCommandParts, uri: unknown, line: unknown): Promise<void> {
  assertTrusted();
  const document = documentOf(uri);
  const at = typeof line === 'number' ? line : activePython()?.selection.active.line;
  const cell = document && at !== undefined && pickCell(linesOf(document), at);
  if (!document || !cell) return hint('There is no cell with code at the cursor: # %% begins one.');
  await launch(parts, document, cell.picked, cell.title || undefined);
}

async function launch(
  { work, resolve, onBegin }: BackgroundCommandParts,
  document: vscode.TextDocument,
  { code, line }: PickedCode,
  label?: string,
): Promise<void> {
  const file = document.isUntitled ? document.uri.path : document.fileName;
  const { cwd, interpreter, language } = await resolve(placeOf(document));
  onBegin();
  await work.launch({
    code,
    source: { file, line },
    cwd,
    interpreter,
    language,
    ...(label !== undefined && { label }),
  });
}

function documentOf(uri: unknown): vscode.TextDocument | undefined {
  if (!(uri instanceof vscode.Uri)) return activePython()?.document;
  return vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
}

function linesOf(document: vscode.TextDocument): string[] {
  return document.getText().split(/\r\n|\r|\n/);
}

async function runOf(
  work: BackgroundWork,
  row: unknown,
  filter: (run: BackgroundSnapshot) => boolean,
): Promise<BackgroundSnapshot | undefined> {
  const id = backgroundOfRow(row);
  if (id !== undefined) return work.peek(id);
  const runs = work.list().filter(filter).reverse();
  if (runs.length <= 1) return runs[0];
  const items = runs.map((run) => ({
    label: labelOf(run.request),
    description: run.status,
    detail: new Date(run.startedAt).toLocaleTimeString(),
    run,
  }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'Which background run?' });
  return chosen?.run;
}

async function revealCode({ request: { source } }: BackgroundSnapshot): Promise<void> {
  if (source) await reveal(source.file, source.line);
}

async function openOutput({ artifact }: BackgroundSnapshot): Promise<void> {
  if (artifact === undefined) return hint('The output of this run is not on disk.');
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(artifact));
}

function hint(text: string): void {
  vscode.window.setStatusBarMessage(`$(info) ${text}`, MESSAGE_MS);
}
