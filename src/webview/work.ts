/** What is drawn once in a frame, however often it has changed. */
interface Drawing {
  draw(): void;
}

// A frame costs layout and paint of the newest rows however little was added. With too small a share, a flood would
// spend most of its time on rows that are gone from sight in the next frame: work gets half of what a frame takes.
const SMALLEST_BUDGET_MS = 20;
const LARGEST_BUDGET_MS = 60;

/**
 * Spreads work over frames: steps are taken until a frame's share of time is used, then what has changed is drawn. So
 * a flood never blocks typing or scrolling. A job that throws is over; the others go on.
 */
export class FrameWork {
  private readonly jobs: Generator<void>[] = [];
  private readonly dirty = new Set<Drawing>();
  private scheduled = false;
  private frameBefore = 0;

  constructor(
    private readonly requestFrame: (frame: () => void) => void,
    private readonly afterDraw: () => void,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  add(job: Generator<void>): void {
    this.jobs.push(job);
    this.schedule();
  }

  markDirty(drawing: Drawing): void {
    this.dirty.add(drawing);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.requestFrame(() => this.frame());
  }

  private frame(): void {
    const now = performance.now();
    const half = this.jobs.length > 0 ? (now - this.frameBefore) / 2 : 0;
    const until = now + Math.min(Math.max(half, SMALLEST_BUDGET_MS), LARGEST_BUDGET_MS);
    this.frameBefore = now;
    try {
      this.takeSteps(until);
      for (const drawing of this.dirty) this.attempt(() => drawing.draw());
      this.dirty.clear();
      this.attempt(this.afterDraw);
    } finally {
      // Only now, or each frame that marks something would ask for two.
      this.scheduled = false;
      if (this.jobs.length > 0) this.schedule();
    }
  }

  private takeSteps(until: number): void {
    for (let job = this.jobs[0]; job !== undefined; job = this.jobs[0]) {
      if (this.isOver(job)) this.jobs.shift();
      if (performance.now() >= until) break;
    }
  }

  /** Takes one step. */
  private isOver(job: Generator<void>): boolean {
    // A generator that threw is done.
    return this.attempt(() => job.next().done) !== false;
  }

  private attempt<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      this.onFailure(error);
      return undefined;
    }
  }
}
