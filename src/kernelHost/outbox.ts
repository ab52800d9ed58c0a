import { systemClock, type Clock } from '../base/clock';
import type { Disposable } from '../base/disposable';
import type { KernelOutput } from '../kernel/output';
import { ITEM_SIZE, leaveOutDisplays, leaveOutText, sizeOf, type OutputItem } from './outputSize';

export interface Batch {
  /** Counts from 1. */
  readonly seq: number;
  readonly items: readonly OutputItem[];
}

/** Sizes in characters. */
export interface OutboxLimits {
  readonly batch: number;
  /** Time between batches in ms, except the first after a pause, which goes at once. */
  readonly batchEveryMs: number;
  /** Sent and not yet acknowledged, at most (and one batch more). */
  readonly window: number;
  /** Stream text that waits for the window: above it the oldest half is left out and counted. */
  readonly heldText: number;
  /** Displays and results that wait for the window: above it the oldest are replaced by a note. */
  readonly heldDisplays: number;
}

const MEBI = 1024 * 1024;

const OUTBOX_LIMITS: OutboxLimits = {
  batch: 64 * 1024,
  batchEveryMs: 16,
  window: 4 * MEBI,
  heldText: 8 * MEBI,
  heldDisplays: 64 * MEBI,
};

const TOO_SLOW = 'Left out: the window did not take output fast enough.';

/**
 * One kernel's output on its way to the client: joined, numbered, and never more than the client keeps up with. A
 * slow client costs old text, which is counted (`gap`), and neither blocks the kernel nor grows memory.
 */
export class Outbox implements Disposable {
  private held: OutputItem[] = [];
  private heldText = 0;
  private heldDisplays = 0;
  private seq = 0;
  /** Sizes of the batches that were sent and not acknowledged, oldest first. */
  private unacknowledged: { readonly seq: number; readonly size: number }[] = [];
  private inFlight = 0;
  private lastSentAt = 0;
  private timer: Disposable | undefined;
  private parked = false;

  constructor(
    private readonly send: (batch: Batch) => void,
    private readonly limits: OutboxLimits = OUTBOX_LIMITS,
    private readonly clock: Clock = systemClock,
  ) {}

  /** `execution` null: the output belongs to no run. */
  push(execution: string | null, output: KernelOutput): void {
    if (this.parked) return;
    const joined = this.joinLast(execution, output);
    if (!joined) this.held.push({ execution, output });
    const size = sizeOf(output) - (joined ? ITEM_SIZE : 0);
    if (output.type === 'stream') this.heldText += size;
    else this.heldDisplays += size;
    if (this.heldText + this.heldDisplays >= this.limits.batch) this.sendWhatFits();
    else this.schedule();
    this.shrink();
  }

  /** The client has taken every batch up to this one. */
  acknowledge(seq: number): void {
    for (let first = this.unacknowledged[0]; first !== undefined && first.seq <= seq;) {
      this.inFlight -= first.size;
      this.unacknowledged.shift();
      first = this.unacknowledged[0];
    }
    if (this.heldText + this.heldDisplays >= this.limits.batch) this.sendWhatFits();
    else if (this.held.length > 0) this.schedule();
  }

  /** Sends all that is held, also beyond the window: what is held is bounded, and an end must not wait. */
  flush(): void {
    while (this.held.length > 0) this.sendOne();
  }

  /** Nobody is there to take anything: what is held and what comes is let go of, as the history has it. */
  park(): void {
    this.parked = true;
    this.timer?.dispose();
    this.timer = undefined;
    this.held = [];
    this.unacknowledged = [];
    this.inFlight = 0;
    this.recount();
  }

  /** What comes from now on is sent again. */
  unpark(): void {
    this.parked = false;
  }

  dispose(): void {
    this.park();
  }

  private joinLast(execution: string | null, output: KernelOutput): boolean {
    const last = this.held.at(-1);
    if (last?.execution !== execution) return false;
    if (output.type !== 'stream' || last.output.type !== 'stream') return false;
    if (last.output.name !== output.name) return false;
    if (last.output.text.length + output.text.length > this.limits.batch) return false;
    const text = last.output.text + output.text;
    this.held[this.held.length - 1] = { execution, output: { ...output, text } };
    return true;
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    const { batchEveryMs } = this.limits;
    // At most that, also where the system's clock was set back.
    const wait = Math.min(this.lastSentAt + batchEveryMs - this.clock.now(), batchEveryMs);
    this.timer = wait > 0 ? this.clock.after(wait, this.onTime) : soon(this.onTime);
  }

  private readonly onTime = (): void => {
    this.timer = undefined;
    this.sendWhatFits();
  };

  private sendWhatFits(): void {
    while (this.held.length > 0 && this.inFlight < this.limits.window) this.sendOne();
  }

  private sendOne(): void {
    let size = 0;
    let count = 0;
    for (const { output } of this.held) {
      const more = sizeOf(output);
      if (count > 0 && size + more > this.limits.batch) break;
      size += more;
      count += 1;
      if (output.type === 'stream') this.heldText -= more;
      else this.heldDisplays -= more;
    }
    const items = this.held.splice(0, count);
    this.timer?.dispose();
    this.timer = undefined;
    this.lastSentAt = this.clock.now();
    this.seq += 1;
    this.inFlight += size;
    this.unacknowledged.push({ seq: this.seq, size });
    this.send({ seq: this.seq, items });
    if (this.held.length > 0) this.schedule();
  }

  private shrink(): void {
    if (this.heldText > this.limits.heldText) {
      // Half of it at once, so that a flood pays for a pass over the list only now and then.
      const keep = this.limits.heldText / 2;
      this.held = leaveOutText(this.held, this.heldText - keep);
      this.recount();
    }
    if (this.heldDisplays > this.limits.heldDisplays) {
      const keep = this.limits.heldDisplays / 2;
      this.held = leaveOutDisplays(this.held, this.heldDisplays - keep, TOO_SLOW);
      this.recount();
    }
  }

  private recount(): void {
    this.heldText = 0;
    this.heldDisplays = 0;
    for (const { output } of this.held) {
      if (output.type === 'stream') this.heldText += sizeOf(output);
      else this.heldDisplays += sizeOf(output);
    }
  }
}

/** After what has come in this turn of the event loop. */
function soon(callback: () => void): Disposable {
  const handle = setImmediate(callback);
  return { dispose: () => clearImmediate(handle) };
}
