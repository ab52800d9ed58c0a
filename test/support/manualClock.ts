import type { Clock } from '../../src/base/clock';
import { toDisposable, type Disposable } from '../../src/base/disposable';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Lets promises settle that wait for nothing but each other. */
export async function flush(hops = 40): Promise<void> {
  for (let hop = 0; hop < hops; hop++) await Promise.resolve();
}

/** A clock that stands still until a test moves it; faster than fake timers by far. */
export class ManualClock implements Clock {
  private time = 1_000_000;
  private readonly timers = new Set<Timer>();

  now(): number {
    return this.time;
  }

  after(delayMs: number, callback: () => void): Disposable {
    const timer: Timer = { at: this.time + Math.max(0, delayMs), callback };
    this.timers.add(timer);
    return toDisposable(() => this.timers.delete(timer));
  }

  /** Moves the time on, and lets everything settle after each timer that is due on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (let next = this.nextBefore(end); next; next = this.nextBefore(end)) {
      this.timers.delete(next);
      this.time = Math.max(this.time, next.at);
      next.callback();
      await flush();
    }
    this.time = end;
  }

  private nextBefore(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.timers) {
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }
}
