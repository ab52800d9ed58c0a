import type { OutputView } from './outputView';

// Leaves the rest of a frame of 16 ms to layout and paint.
const BUDGET_MS = 7;

/**
 * Spreads work over frames: steps are taken until a frame's share of time is used, then what has changed is drawn. So
 * a flood never blocks typing or scrolling.
 */
export class FrameWork {
  private readonly jobs: Generator<void>[] = [];
  private readonly dirty = new Set<OutputView>();
  private scheduled = false;

  constructor(private readonly afterDraw: () => void) {}

  add(job: Generator<void>): void {
    this.jobs.push(job);
    this.schedule();
  }

  markDirty(view: OutputView): void {
    this.dirty.add(view);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => this.frame());
  }

  private frame(): void {
    this.scheduled = false;
    const until = performance.now() + BUDGET_MS;
    for (let job = this.jobs[0]; job !== undefined; job = this.jobs[0]) {
      if (job.next().done === true) this.jobs.shift();
      if (performance.now() >= until) break;
    }
    for (const view of this.dirty) view.draw();
    this.dirty.clear();
    this.scheduled = false;
    this.afterDraw();
    if (this.jobs.length > 0) this.schedule();
  }
}
