import { systemClock, type Clock } from '../base/clock';
import { abortReason } from '../pool/deadline';
import { unlessAborted } from './unlessAborted';

/** Why a run is aborted whose time is over. */
export function passedLimit(): DOMException {
  return abortReason({ kind: 'timedOut' });
}

/** Aborts when the deadline passes (ms since the epoch; undefined: never). Call what it returns when it need not any more. */
export function abortLate(
  controller: AbortController,
  deadlineMs: number | undefined,
  clock: Clock = systemClock,
): () => void {
  if (deadlineMs === undefined) return () => undefined;
  const left = deadlineMs - clock.now();
  const abort = (): void => controller.abort(passedLimit());
  if (left <= 0) abort();
  const timer = clock.after(left, abort);
  return () => timer.dispose();
}

/** What is awaited, or undefined when the deadline passes first. Rejects as it does. */
export async function unlessLate<T>(
  awaited: Promise<T>,
  deadlineMs: number | undefined,
  clock: Clock,
): Promise<T | undefined> {
  if (deadlineMs === undefined) return awaited;
  const late = new AbortController();
  const inTime = abortLate(late, deadlineMs, clock);
  try {
    return await unlessAborted(awaited, late.signal);
  } finally {
    inTime();
  }
}
