import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable';
import type { KernelPool, SessionSnapshot } from '../pool/types';
import type { Panel } from './panel/panelView';
import { activePython, placeOf } from './place';
import type { Interpreters } from './python/interpreters';
import { runFile, runSelection } from './runFromEditor';
import type { Runs } from './runs';
import { askForSession } from './sessions/newSession';
import { pickSession, sessionMenu } from './sessions/pickSession';
import { sessionOfRow } from './sessions/rows';
import type { SessionActions } from './sessions/sessionActions';
import type { SessionBook } from './sessions/sessionBook';
import type { SessionsModel } from './sessions/sessionsModel';
import { sessionKeyOf } from './sessions/target';
import { assertTrusted } from './trust';

export interface CommandParts {
  readonly ownerId: string;
  readonly runs: Runs;
  readonly model: SessionsModel;
  readonly book: SessionBook;
  readonly actions: SessionActions;
  readonly panel: Panel;
  interpreters(): Promise<Interpreters>;
  pool(): Promise<KernelPool>;
  showLog(): void;
  /** Tells the person what failed. */
  onFailure(error: unknown): void;
}

/** Every command and what it does. Menus of the Sessions tree pass a row. */
function commandTable(parts: CommandParts): Record<string, (argument: unknown) => unknown> {
  const { runs, actions, panel } = parts;
  return {
    runSelection: () => runSelection(runs, { advance: false }),
    runLineAndAdvance: () => runSelection(runs, { advance: true }),
    runFile: (uri) => runFile(runs, uri),
    newSession: () => newSession(parts),
    interrupt: (row) => interrupt(parts, row),
    restart: (row) => withSession(parts, row, 'Restart which session?', (s) => actions.restart(s)),
    kill: (row) => withSession(parts, row, 'Kill which session?', (s) => actions.kill(s)),
    stopAll: () => actions.stopAll(),
    showPanel: (row) => panel.show(keyOf(parts, row) ?? currentKey(parts)),
    showLog: () => parts.showLog(),
    sessionActions: () => showSessionMenu(parts),
  };
}

export function registerCommands(parts: CommandParts): Disposable {
  const registered = Object.entries(commandTable(parts)).map(([name, act]) =>
    vscode.commands.registerCommand(`holdfast.${name}`, async (argument: unknown) => {
      try {
        await act(argument);
      } catch (error) {
        parts.onFailure(error);
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

async function newSession(parts: CommandParts): Promise<void> {
  assertTrusted();
  const editor = activePython();
  const place = placeOf(editor?.document);
  const taken = parts.model.sessions().map((session) => parts.book.labelOf(session));
  const target = await askForSession(place, await parts.interpreters(), taken);
  if (!target) return;
  parts.book.choose(editor ? { document: place.document } : { folder: place.folder }, target);
  await vscode.commands.executeCommand('holdfast.sessions.focus', { preserveFocus: true });
  const pool = await parts.pool();
  const { cwd, sessionId, interpreter } = target;
  const warm = await pool.warm({
    cwd,
    sessionId,
    ownerId: parts.ownerId,
    ...(interpreter !== undefined && { interpreter }),
  });
  if (!warm.ok) throw new Error(`The session ${target.label} did not start: ${warm.reason}`);
}

async function interrupt(parts: CommandParts, row: unknown): Promise<void> {
  const key = keyOf(parts, row) ?? runningKey(parts);
  if (key !== undefined) return parts.actions.interrupt(key);
  const session = await pickSession(
    parts.model.sessions().filter(({ state }) => state.kind === 'busy'),
    (one) => parts.book.labelOf(one),
    'Interrupt which session?',
  );
  if (session) await parts.actions.interrupt(sessionKeyOf(session));
}

async function withSession(
  parts: CommandParts,
  row: unknown,
  question: string,
  act: (session: SessionSnapshot) => Promise<void>,
): Promise<void> {
  const session =
    sessionOf(parts, row) ??
    currentSession(parts) ??
    (await pickSession(parts.model.sessions(), (one) => parts.book.labelOf(one), question));
  if (session) await act(session);
}

function showSessionMenu(parts: CommandParts): Promise<void> {
  const { book, model } = parts;
  const { document, folder } = placeOf(activePython()?.document);
  const current = currentSession(parts);
  return sessionMenu({
    current,
    others: model
      .sessions()
      .filter((session) => session.id !== current?.id && book.withKey(sessionKeyOf(session))),
    isChosen: book.chosen(document, folder) !== undefined,
    labelOf: (session) => book.labelOf(session),
    use(session) {
      const target = book.withKey(sessionKeyOf(session));
      if (target) book.choose({ document }, target);
    },
    useDefault: () => book.forgetChoice(document, folder),
  });
}

/** A row of the tree, or the snapshot id that our own menus pass. */
function sessionOf({ model }: CommandParts, argument: unknown): SessionSnapshot | undefined {
  const id = sessionOfRow(argument) ?? argument;
  return typeof id === 'string' ? model.sessions().find((session) => session.id === id) : undefined;
}

function keyOf(parts: CommandParts, argument: unknown): string | undefined {
  const session = sessionOf(parts, argument);
  return session && sessionKeyOf(session);
}

/** The session of the Python file in front. */
function currentKey({ book }: CommandParts): string | undefined {
  const editor = activePython();
  if (!editor) return undefined;
  const { document, folder } = placeOf(editor.document);
  const target = book.current(document, folder);
  return target && sessionKeyOf(target);
}

function currentSession(parts: CommandParts): SessionSnapshot | undefined {
  const key = currentKey(parts);
  return key === undefined ? undefined : parts.model.withKey(key);
}

/** The session to interrupt when none is named: the current file's, else the only one in which this window runs code. */
function runningKey(parts: CommandParts): string | undefined {
  const current = currentKey(parts);
  if (current !== undefined && parts.runs.inSession(current).length > 0) return current;
  const keys = new Set(parts.runs.sessionKeys());
  return keys.size === 1 ? [...keys][0] : undefined;
}
