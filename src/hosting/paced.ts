import { systemClock } from '../base/clock';

/**
 * Asks at most once per `everyMs`: a call that comes too early waits until it is time, and calls that come while one
 * waits or is under way share its answer.
 */
export function paced<T>(everyMs: number, ask: () => Promise<T>): () => Promise<T> {
  let shared: Promise<T> | undefined;
  let notBefore = 0;
  return () =>
    (shared ??= sleep(Math.min(notBefore - systemClock.now(), everyMs))
      .then(ask)
      .finally(() => {
        shared = undefined;
        notBefore = systemClock.now() + everyMs;
      }));
}

function sleep(ms: number): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => systemClock.after(ms, resolve));
}
