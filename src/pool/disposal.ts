import type { Clock } from '../base/clock';
import { deferred } from '../base/deferred';
import type { Session } from './session';
import type { SessionState } from './sessionState';
import type { StopAttempt } from './stopAttempt';

/** Answers whether the promises settled before the limit, which counts from this call. */
export async function settleWithin(
  clock: Clock,
  limitMs: number,
  promises: readonly Promise<void>[],
): Promise<boolean> {
  const limit = deferred<boolean>();
  const timer = clock.after(limitMs, () => limit.resolve(false));
  try {
    return await Promise.race([Promise.all(promises).then(() => true), limit.promise]);
  } finally {
    timer.dispose();
  }
}

/** An owner's clean-up: over with its attempts or at the limit, whatever comes first. */
export async function cleanUp(
  clock: Clock,
  limitMs: number,
  attempts: readonly StopAttempt[],
): Promise<void> {
  if (attempts.length === 0) return;
  await settleWithin(
    clock,
    limitMs,
    attempts.map((attempt) => attempt.ended),
  );
}

/** Claims a session for good, or joins the claim that is. Synchronous up to the kernel's own call. */
export function stopForGood(session: Session, clock: Clock, joinLimitMs: number): Promise<void> {
  const joined = session.attempt;
  session.claim({ kind: 'unlimited' }, 'everything was stopped', { kind: 'released' });
  // After the claim, which tells those who hold it.
  session.departAll();
  const { attempt } = session;
  if (!attempt) return Promise.resolve();
  attempt.goneWanted = true;
  const isJoined = joined === attempt && isLimited(session.state);
  return isJoined ? joinLimited(session, attempt, clock, joinLimitMs) : attempt.ended;
}

async function joinLimited(
  session: Session,
  attempt: StopAttempt,
  clock: Clock,
  limitMs: number,
): Promise<void> {
  if (!(await settleWithin(clock, limitMs, [attempt.ended]))) return;
  // What follows where it failed.
  await session.attempt?.ended;
}

function isLimited(state: SessionState): boolean {
  return state.kind === 'stopping' && state.attempt.method.kind === 'limited';
}
