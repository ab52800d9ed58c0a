import { asError, HoldfastError } from '../base/errors';
import type { InterruptVerdict } from '../kernel/execution';
import type { ShutdownOutcome } from '../kernel/kernel';
import type { PoolCore } from './core';
import { cleanUp } from './disposal';
import type { NotRunCause } from './outcome';
import { ReadyCall } from './readyCall';
import type { Session } from './session';
import { isLeaving, type StopMethod } from './sessionState';
import { stopKernel, type StopAttempt } from './stopAttempt';

function sessionById(core: PoolCore, id: string): Session {
  const session = core.sessions.get(id);
  if (session) return session;
  throw new HoldfastError(
    'kernel_not_found',
    'This session is gone. Its code can run in a new one.',
  );
}

export async function interruptRun(
  core: PoolCore,
  id: string,
  executionId?: string,
): Promise<InterruptVerdict> {
  const { lane, slot } = sessionById(core, id);
  const { kernel } = slot;
  const { current } = lane;
  if (!current) return undelivered('Nothing is running.');
  if (!kernel) return undelivered('Its kernel is still being looked for.');
  if (executionId !== undefined && executionId !== current.executionId) {
    return undelivered('That run is not the one that is running.');
  }
  current.interrupt(kernel.interrupt === undefined);
  if (kernel.interrupt) return kernel.interrupt(current.executionId);
  return { delivered: true, target: `run ${current.executionId}` };
}

function undelivered(reason: string): InterruptVerdict {
  return { delivered: false, target: 'nothing', reason };
}

/** Resolves when the new kernel is up. */
export async function restartSession(
  core: PoolCore,
  id: string,
  executionId: string,
): Promise<void> {
  const session = sessionById(core, id);
  if (!session.isAttachable || !session.owners.isHeld) {
    throw new HoldfastError(
      'bad_input',
      'This session is on its way out, and nobody holds it. Run code in a new one.',
    );
  }
  // What an earlier pool has used is stopped when it is found again.
  if (session.isBeingFound) await kernelIn(core, session, executionId);
  const ready = readyCall(core, session, executionId);
  core.batch(() => {
    session.lane.cancelQueue(
      { kind: 'sessionEnded', reason: 'the kernel was restarted.' },
      ({ runsCode }) => runsCode,
    );
    session.dispatch({ type: 'attached' });
    session.replace('restarted', { kind: 'unlimited' }, 'it was restarted by a person');
    session.turns.enqueue(ready);
  });
  await kernelFor(ready);
}

async function kernelIn(core: PoolCore, session: Session, executionId: string): Promise<void> {
  const ready = readyCall(core, session, executionId);
  core.batch(() => session.turns.enqueue(ready));
  await kernelFor(ready);
}

function readyCall(core: PoolCore, { identity }: Session, executionId: string): ReadyCall {
  return new ReadyCall(identity, undefined, executionId, core.clock.now(), true);
}

async function kernelFor(ready: ReadyCall): Promise<void> {
  const end = await ready.end;
  if (!end.ok) throw asError(end.error);
}

/** SIGKILL, also beside an attempt under way. Where that is no evidence, it is tried again like any other stop. */
export async function killSession(core: PoolCore, id: string): Promise<ShutdownOutcome> {
  const session = sessionById(core, id);
  if (session.attempt && session.slot.kernel?.kill) {
    const answer = await stopKernel(session.slot.kernel, { kind: 'kill' });
    if (answer.confirmed) core.batch(() => session.exitConfirmed());
    return answer;
  }
  return end(core, session, { kind: 'kill' }, 'it was killed by a person');
}

export async function stopSession(core: PoolCore, id: string): Promise<ShutdownOutcome> {
  return end(core, sessionById(core, id), { kind: 'unlimited' }, 'it was stopped by a person');
}

async function end(
  core: PoolCore,
  session: Session,
  method: StopMethod,
  why: string,
): Promise<ShutdownOutcome> {
  const cause: NotRunCause = { kind: 'sessionEnded', reason: `${why}.` };
  core.batch(() => {
    session.lane.cancelQueue(cause);
    session.claim(method, why, cause);
  });
  return outcomeOfStop(session);
}

export async function retryStop(core: PoolCore, id: string): Promise<ShutdownOutcome> {
  const session = sessionById(core, id);
  if (!session.attempt && !isLeaving(session.state)) {
    throw new HoldfastError(
      'bad_input',
      'This session is in use again: there is no stop to retry.',
    );
  }
  session.dispatch({ type: 'retryDue' });
  return outcomeOfStop(session);
}

async function outcomeOfStop(session: Session): Promise<ShutdownOutcome> {
  await session.attempt?.ended;
  const { state } = session;
  if (state.kind === 'gone') return { confirmed: true };
  const reason = state.kind === 'unconfirmed' ? state.reason : 'Its exit was not observed.';
  return { confirmed: false, reason };
}

export async function releaseOwnerOf(core: PoolCore, id: string, ownerId: string): Promise<void> {
  const session = sessionById(core, id);
  const attempts: StopAttempt[] = [];
  core.batch(() => {
    const lost = session.turns.executions > 0 && session.owners.someHolder((id) => id === ownerId);
    const attempt = session.releaseOwner(ownerId);
    if (!attempt) return;
    attempts.push(attempt);
    // Unlike one that lets go itself, it does not know.
    if (lost) core.news.lost(session.key, [ownerId], 'a person released it');
  });
  await cleanUp(core.clock, core.settings.ownerCleanupMs, attempts);
}

export async function stderrOf(core: PoolCore, id: string): Promise<string> {
  return (await sessionById(core, id).slot.kernel?.stderr?.()) ?? '';
}

export async function forgetSession(core: PoolCore, id: string): Promise<void> {
  const session = sessionById(core, id);
  if (!isLeaving(session.state)) {
    throw new HoldfastError(
      'bad_input',
      'Only a kernel that is on its way out can be forgotten. Stop it first.',
    );
  }
  core.batch(() => core.dropForced(session, 'forgotten'));
}
