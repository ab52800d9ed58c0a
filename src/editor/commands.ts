import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable';
import type { KernelPool, SessionSnapshot } from '../pool/types';
import { showHelpers } from './helpersPick';
import { openSetting } from './openSetting';
import type { Panel } from './panel/panelView';
import { activePython, placeOf } from './place';
import type { Interpreters } from './python/interpreters';
import { revealSession } from './reveal';
import { runFile, runSelection } from './runFromEditor';
import type { Place, Runs } from './runs';
import { abilitiesOf, type Ability } from './sessions/abilities';
import type { FullPool } from './sessions/fullPool';
import { askForName, askForSession, askForSessionBeside } from './sessions/newSession';
import { pickSession, showSessionMenu } from './sessions/pickSession';
import { keyOfWaiterRow, ownerOfRow, sessionOfRow, runOfRow } from './sessions/row';
import type { SessionActions } from './sessions/sessionActions';
import type { SessionBook } from './sessions/sessionBook';
import type { SessionsModel } from './sessions/sessionsModel';
import { sessionKeyOf, type SessionTarget } from './sessions/target';
import { assertTrusted } from './trust';

interface CommandParts {
  readonly ownerId: string;
  readonly runs: Runs;
  readonly model: SessionsModel;
  readonly book: SessionBook;
  readonly actions: SessionActions;
  readonly fullPool: FullPool;
  readonly panel: Panel;
  interpreters(): Promise<Interpreters>;
  /** The session that a place's code runs in. */
  resolve(place: Place): Promise<SessionTarget>;
  pool(): Promise<KernelPool>;
  showLog(): void;
  showStderr(session: SessionSnapshot): Promise<void>;
  copyDiagnostics(): Promise<void>;
  /** Tells the person what failed. */
  onFailure(error: unknown): void;
}

type Command = (argument: unknown) => unknown;

/** Every command and what it does. Menus of the Sessions tree pass the id of a row. */
function commandTable(parts: CommandParts): Record<string, Command> {
  const { runs, actions, panel, fullPool } = parts;
  const onSession =
    (
      able: readonly Ability[],
      question: string,
      act: (session: SessionSnapshot) => Promise<unknown>,
    ): Command =>
    (row) =>
      withSession(parts, row, able, question, act);
  return {
    runSelection: () => runSelection(runs, { advance: false }),
    runLineAndAdvance: () => runSelection(runs, { advance: true }),
    runFile: (uri) => runFile(runs, uri),
    newSession: () => newSession(parts),
    newSessionBeside: onSession([], 'Beside which session?', (s) => newSessionBeside(parts, s)),
    interrupt: (row) => interrupt(parts, row),
    cancelRun: (row) => runs.cancel(runOfRow(row) ?? ''),
    restart: onSession(['restartable'], 'Restart which session?', (s) => actions.restart(s)),
    stop: onSession(['stoppable'], 'Stop which session?', (s) => actions.stop(s)),
    kill: (row) => kill(parts, row),
    forceKill: onSession(['forceKillable'], 'Kill which session?', (s) => actions.kill(s)),
    retryNow: onSession(['retryable'], 'Stop which session now?', (s) => actions.retryNow(s)),
    forget: onSession(['forgettable'], 'Forget which session?', (s) => actions.forget(s)),
    releaseOwner: (row) => releaseOwner(parts, row),
    cancelWaiting: (row) => cancelWaiting(parts, row),
    freeSlot: () => fullPool.freeSlot(),
    changeCapacity: () => openSetting('holdfast.capacity'),
    revealSession: onSession([], 'Reveal which session?', (s) => revealSession(s, runs)),
    renameSession: onSession([], 'Rename which session?', (s) => rename(parts, s)),
    stopAll: () => actions.stopAll(),
    showPanel: (row) => panel.show(keyOf(parts, row) ?? currentKey(parts)),
    showHelpers: (row) => showHelpersOf(parts, row),
    showLog: () => parts.showLog(),
    showStderr: onSession([], "Which session's stderr?", (s) => parts.showStderr(s)),
    copyDiagnostics: () => parts.copyDiagnostics(),
    sessionActions: () => openSessionMenu(parts),
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
  const place = placeOf(activePython()?.document);
  const target = await askForSession(place, await parts.interpreters(), namesTaken(parts));
  if (target) await open(parts, target);
}

async function newSessionBeside(parts: CommandParts, session: SessionSnapshot): Promise<void> {
  assertTrusted();
  const label = parts.book.labelOf(session);
  const target = await askForSessionBeside(session, label, namesTaken(parts));
  if (target) await open(parts, target);
}

/** Starts a session, which the document in front uses from then on. */
async function open(parts: CommandParts, target: SessionTarget): Promise<void> {
  const editor = activePython();
  const { document, folder } = placeOf(editor?.document);
  parts.book.choose(editor ? { document } : { folder }, target);
  await vscode.commands.executeCommand('holdfast.sessions.focus', { preserveFocus: true });
  const warm = await warmUp(parts, target);
  if (!warm.ok) throw new Error(`The session ${target.label} did not start: ${warm.reason}`);
}

async function warmUp(parts: CommandParts, { cwd, sessionId, interpreter }: SessionTarget) {
  const pool = await parts.pool();
  const { ownerId } = parts;
  return pool.warm({ cwd, sessionId, ownerId, ...(interpreter !== undefined && { interpreter }) });
}

async function rename({ book, model }: CommandParts, session: SessionSnapshot): Promise<void> {
  const label = book.labelOf(session);
  const others = model.sessions().filter(({ id }) => id !== session.id);
  const taken = others.map((other) => book.labelOf(other));
  const name = await askForName(`Rename ${label}`, label, taken);
  if (name !== undefined) book.rename(sessionKeyOf(session), name);
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

async function kill(parts: CommandParts, row: unknown): Promise<void> {
  const { runs, actions } = parts;
  const key = row === undefined ? runningKey(parts) : undefined;
  const own = key === undefined ? [] : runs.inSession(key).filter((run) => run.inOwnKernel);
  // What is meant is the kernel that runs, which ends with its run, and not an idle one of the same file.
  for (const { executionId } of own) runs.cancel(executionId);
  if (own.length > 0) return;
  const able = ['killable', 'forceKillable'] as const;
  await withSession(parts, row, able, 'Kill which session?', (session) => actions.kill(session));
}

async function releaseOwner({ model, actions }: CommandParts, row: unknown): Promise<void> {
  const { id, ownerId } = ownerOfRow(row) ?? {};
  const session = id === undefined ? undefined : model.withId(id);
  if (session && ownerId !== undefined) await actions.release(session, ownerId);
}

function cancelWaiting({ actions }: CommandParts, row: unknown): void {
  const key = keyOfWaiterRow(row);
  if (key !== undefined) actions.cancelWaiting(key);
}

async function showHelpersOf(parts: CommandParts, row: unknown): Promise<void> {
  assertTrusted();
  const { book, panel, runs } = parts;
  const key = keyOf(parts, row) ?? (typeof row === 'string' ? row : undefined);
  const editor = activePython();
  const known = key === undefined ? undefined : book.withKey(key);
  const target = known ?? (await parts.resolve(placeOf(editor?.document)));
  await showHelpers({
    async helpers() {
      const warm = await warmUp(parts, target);
      if (!warm.ok) throw new Error(`The helpers of ${target.label} are not known: ${warm.reason}`);
      return warm.docs;
    },
    async insert({ name }) {
      if (!editor || known) return panel.insert(`${name}(`);
      return editor.insertSnippet(new vscode.SnippetString(`${name}($0)`));
    },
    inspect: ({ name }) => runs.run({ code: `help(${name})`, to: target }),
  });
}

/** The session that is meant: a row's, else the current file's, else a person's pick among those that are able. */
async function withSession(
  parts: CommandParts,
  row: unknown,
  able: readonly Ability[],
  question: string,
  act: (session: SessionSnapshot) => Promise<unknown>,
): Promise<void> {
  const isAble = (session: SessionSnapshot): boolean =>
    able.length === 0 || abilitiesOf(session).some((ability) => able.includes(ability));
  const named = sessionOf(parts, row);
  const current = currentSession(parts);
  const session =
    named ??
    (current && isAble(current) ? current : undefined) ??
    (await pickSession(
      parts.model.sessions().filter(isAble),
      (one) => parts.book.labelOf(one),
      question,
    ));
  if (session) await act(session);
}

function openSessionMenu(parts: CommandParts): Promise<void> {
  const { book, model } = parts;
  const { document, folder } = placeOf(activePython()?.document);
  const current = currentSession(parts);
  const key = currentKey(parts);
  return showSessionMenu(
    {
      current,
      isWaiting: key !== undefined && model.waiterFor(key) !== undefined,
      others: model
        .sessions()
        .filter((session) => session.id !== current?.id && book.withKey(sessionKeyOf(session))),
      isChosen: book.chosen(document, folder) !== undefined,
      now: Date.now(),
      labelOf: (session) => book.labelOf(session),
    },
    {
      use(session) {
        const target = book.withKey(sessionKeyOf(session));
        if (target) book.choose({ document }, target);
      },
      useDefault: () => book.forgetChoice(document, folder),
    },
  );
}

function namesTaken({ model, book }: CommandParts): readonly string[] {
  return model.sessions().map((session) => book.labelOf(session));
}

/** A row of the tree, or the snapshot id that our own menus pass. */
function sessionOf(parts: CommandParts, argument: unknown): SessionSnapshot | undefined {
  const id = sessionOfRow(argument) ?? argument;
  return typeof id === 'string' ? parts.model.withId(id) : undefined;
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
