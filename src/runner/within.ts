import { systemClock } from '../base/clock';
import { deferred } from '../base/deferred';

/** A limit in time that starts at once. Dispose when it is no longer waited for. */
interface Limit {
  /** Resolves when it has passed. */
  readonly passed: Promise<void>;
  readonly isOver: boolean;
  dispose(): void;
}

export function startLimit(limitMs: number): Limit {
  const passed = deferred();
  let isOver = false;
  const timer = systemClock.after(limitMs, () => {
    isOver = true;
    passed.resolve();
  });
  return {
    passed: passed.promise,
    get isOver() {
      return isOver;
    },
    dispose: () => timer.dispose(),
  };
}

/** Resolves when `done` has, or `limitMs` after this call, whichever comes first. Rejects as `done` does. */
export async function within(done: Promise<unknown>, limitMs: number): Promise<void> {
  const limit = startLimit(limitMs);
  try {
    await Promise.race([done, limit.passed]);
  } finally {
    limit.dispose();
  }
}
