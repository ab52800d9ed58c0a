import { HoldfastError } from '../base/errors';
import type { InterruptVerdict } from '../kernel/execution';
import type { ShutdownOutcome } from '../kernel/kernel';
import type { PoolCore } from './core';
import { ReadyCall } from './readyCall';
import type { Session } from './session';
import { stopKernel } from './stopAttempt';

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
  const { lane, kernel } = sessionById(core, id);
  const { current } = lane;
  if (!current || !kernel) return undelivered('Nothing is running.');
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
  const { identity } = session;
  const ready = new ReadyCall(
    identity,
    undefined,
    executionId,
    core.clock.now(),
    true,
    async () => {},
  );
  core.batch(() => {
    session.lane.cancelQueue({ kind: 'sessionEnded', reason: 'the kernel was restarted.' });
    session.dispatch({ type: 'attached' });
    session.replace('restarted', { kind: 'unlimited' }, 'it was restarted by a person');
    session.enqueue(ready);
  });
  const end = await ready.end;
  if (!end.ok) throw end.error;
}

/** Its outcome is the evidence; where that fails, the kernel is tried again like any other. */
export async function killSession(core: PoolCore, id: string): Promise<ShutdownOutcome> {
  const session = sessionById(core, id);
  const joined = session.attempt;
  if (joined && session.kernel?.kill) {
    const answer = await stopKernel(session.kernel, { kind: 'kill' });
    if (answer.confirmed) core.batch(() => session.exitConfirmed());
    return answer;
  }
  core.batch(() => {
    session.lane.cancelQueue({ kind: 'sessionEnded', reason: 'the kernel was killed.' });
    session.claim({ kind: 'kill' }, 'it was killed by a person', {
      kind: 'sessionEnded',
      reason: 'the kernel was killed.',
    });
  });
  await session.attempt?.ended;
  const { state } = session;
  if (state.kind === 'gone') return { confirmed: true };
  const reason = state.kind === 'unconfirmed' ? state.reason : 'Its exit was not observed.';
  return { confirmed: false, reason };
}
