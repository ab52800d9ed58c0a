import { toDisposable, type Disposable } from './disposable';

/** Time as the pool and the runner see it. All figures are milliseconds. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls once after `delayMs`, counted from this call. Never keeps the process alive. Dispose to cancel. */
  after(delayMs: number, callback: () => void): Disposable;
}

interface Timers {
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(handle: unknown): void;
}

// A longer delay overflows the platform's 32-bit timer and fires at once.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** The platform's clock, looked up on globalThis at each use, so that a test's fake timers work. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timers = globalThis as unknown as Timers;
    const handle = timers.setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS));
    unref(handle);
    return toDisposable(() => timers.clearTimeout(handle));
  },
};

/** A browser's timer is a number; Node's can be told not to keep the process alive. */
function unref(handle: unknown): void {
  if (typeof handle === 'object' && handle !== null && 'unref' in handle) {
    (handle as { unref(): void }).unref();
  }
}
