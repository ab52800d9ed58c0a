import { systemClock } from '../../base/clock';
import { HoldfastError } from '../../base/errors';
import type { PooledKernel } from '../../kernel/kernel';

/**
 * A start with a limit, in ms from the call. Rejects with `start_timeout` when it has passed, and as the start does. What
 * came of a start that was called off is shut down by whoever called it off.
 */
export async function startWithin(
  limitMs: number,
  calledOff: AbortSignal,
  start: (signal: AbortSignal) => Promise<PooledKernel>,
): Promise<PooledKernel> {
  const limit = new AbortController();
  const timer = systemClock.after(limitMs, () => limit.abort());
  try {
    const kernel = await start(AbortSignal.any([calledOff, limit.signal]));
    if (!limit.signal.aborted) return kernel;
    await kernel.shutdown(undefined);
    throw overdue(limitMs);
  } catch (error) {
    throw limit.signal.aborted ? overdue(limitMs, error) : error;
  } finally {
    timer.dispose();
  }
}

function overdue(limitMs: number, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'start_timeout',
    `The kernel did not start within ${Math.round(limitMs / 1_000)} s, its prelude included.`,
    { cause },
  );
}
