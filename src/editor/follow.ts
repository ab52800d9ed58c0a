import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../base/disposable';
import type { KernelPool, SessionSnapshot } from '../pool/types';
import { backgroundHeads } from './background/heads';
import type { BackgroundWork } from './background/backgroundWork';
import type { Transcript } from './panel/transcript';
import { isPreludeRun } from './python/runPrelude';
import type { Runs } from './runs';
import type { SessionBook } from './sessions/sessionBook';
import { isUsable, type SessionsModel } from './sessions/sessionsModel';
import { sessionKeyOf } from './sessions/target';
import { languageInWords } from './sessions/words';

/** Output that comes after its run, or that belongs to none, still reaches the transcript. */
export function followLateOutput(
  pool: KernelPool,
  model: SessionsModel,
  transcript: Transcript,
): Disposable {
  return pool.onDidLateOutput(({ id, executionId, output }) => {
    const key = model.keyOf(id);
    if (executionId !== undefined && !isPreludeRun(executionId))
      transcript.output(executionId, output);
    else if (key !== undefined) transcript.sessionOutput(key, output);
  });
}

/** The panel's list of sessions. */
export function followSessions(
  model: SessionsModel,
  book: SessionBook,
  runs: Runs,
  transcript: Transcript,
  background?: BackgroundWork,
): Disposable {
  const store = new DisposableStore();
  const update = (): void => {
    // A key may be taken again while its old kernel still stops: the usable one stands for it.
    const sessions = [...model.sessions()].sort(
      (a, b) => Number(isUsable(a)) - Number(isUsable(b)),
    );
    const heads = new Map(
      sessions.map((session) => {
        const [key, label] = [sessionKeyOf(session), book.labelOf(session)];
        const language = languageInWords(session);
        const description = session.silence ? `not responding · ${language}` : language;
        return [key, { key, label, description, state: session.state.kind as string }];
      }),
    );
    // Whether the session's own kernel is idle is not what the panel shows while another one runs its code.
    for (const { sessionKey: key, sessionLabel: label } of runs.inOwnKernels())
      heads.set(key, { key, label, description: 'kernel of its own', state: 'busy' });
    for (const head of backgroundHeads(background?.look() ?? [])) heads.set(head.key, head);
    transcript.sessionChanged([...heads.values()]);
  };
  store.add(model.onDidChange(update));
  store.add(book.onDidChange(update));
  store.add(runs.onDidChange(update));
  if (background) store.add(background.onDidChange(update));
  return store;
}

/** Keys that `when` clauses in package.json ask for. */
export function followContexts(
  model: SessionsModel,
  runs: Runs,
  background?: BackgroundWork,
): Disposable {
  const store = new DisposableStore();
  const told = new Map<string, boolean>();
  const tell = (key: string, value: boolean): void => {
    if (told.get(key) === value) return;
    told.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  };
  const update = (): void => {
    const sessions = model.sessions();
    tell('holdfast.hasSessions', sessions.length > 0);
    tell(
      'holdfast.hasRunning',
      runs.sessionKeys().length > 0 || sessions.some(({ state }) => state.kind === 'busy'),
    );
    tell('holdfast.hasBackground', (background?.list().length ?? 0) > 0);
    tell('holdfast.hasLeaving', sessions.some(isLeaving));
    tell('holdfast.hasWaiting', (model.capacity()?.waiting.length ?? 0) > 0);
  };
  store.add(model.onDidChange(update));
  store.add(runs.onDidChange(update));
  if (background) store.add(background.onDidChange(update));
  return store;
}

function isLeaving({ state }: SessionSnapshot): boolean {
  return state.kind === 'stopping' || state.kind === 'stopUnconfirmed';
}
