import { deferred, type Deferred } from '../base/deferred';
import { startLimit } from './within';

interface Work {
  readonly controller: AbortController;
}

/** The work that is going on: an abort controller each, until its promise has settled. */
export class ActiveRuns {
  private readonly going = new Set<Work>();
  private idle: Deferred<void> | undefined;
  private isCutOff = false;

  get size(): number {
    return this.going.size;
  }

  /** Counts the work that `begin` starts, from before its first step on. */
  during<T>(controller: AbortController, begin: () => Promise<T>): Promise<T> {
    const leave = this.enter({ controller });
    const work = begin();
    work.then(leave, leave);
    return work;
  }

  abort(): void {
    for (const { controller } of [...this.going]) controller.abort();
  }

  /** Aborts what is going on, and from here on what comes, as it comes. */
  cutOff(): void {
    this.isCutOff = true;
    this.abort();
  }

  /** Whether all has settled within `limitMs` of this call, also what came meanwhile. Where nothing goes on, there is no waiting. */
  async settledWithin(limitMs: number): Promise<boolean> {
    const limit = startLimit(limitMs);
    try {
      while (this.going.size > 0 && !limit.isOver) {
        this.idle ??= deferred();
        await Promise.race([this.idle.promise, limit.passed]);
      }
      return this.going.size === 0;
    } finally {
      limit.dispose();
    }
  }

  private enter(work: Work): () => void {
    this.going.add(work);
    if (this.isCutOff) work.controller.abort();
    return () => {
      this.going.delete(work);
      if (this.going.size > 0) return;
      this.idle?.resolve();
      this.idle = undefined;
    };
  }
}
