import type { OutputView } from './outputView';

// A frame costs layout and paint of the newest rows however little was added. With too small a share, a flood would
// spend most of its time on rows that are gone from sight in the next frame: work gets half of what a frame takes.
const SMALLEST_BUDGET_MS = 20;
const LARGEST_BUDGET_MS = 60;

/**
 * Spreads work over frames: steps are taken until a frame's share of time is used, then what has changed is drawn. So
 * a flood never blocks typing or scrolling.
 */
export class FrameWork {
  private readonly jobs: Generator<void>[] = [];
  private readonly dirty = new Set<OutputView>();
  private scheduled = false;
  private frameBefore = 0;

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
    const now = performance.now();
    const half = this.jobs.length > 0 ? (now - this.frameBefore) / 2 : 0;
    const until = now + Math.min(Math.max(half, SMALLEST_BUDGET_MS), LARGEST_BUDGET_MS);
    this.frameBefore = now;
    for (let job = this.jobs[0]; job !== undefined; job = this.jobs[0]) {
      if (job.next().done === true) this.jobs.shift();
      if (performance.now() >= until) break;
    }
    for (const view of this.dirty) view.draw();
    this.dirty.clear();
    this.afterDraw();
    // Only now, or each frame that marks something would ask for two.
    this.scheduled = false;
    if (this.jobs.length > 0) this.schedule();
  }
}
