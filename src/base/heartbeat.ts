import type { Clock } from './clock';
import type { Disposable } from './disposable';

interface HeartbeatParts {
  readonly clock: Clock;
  /** Asks the other side for a sign of life. One question is open at a time. */
  ask(): void;
  /** It has been silent since then (ms since the epoch); undefined: it answers again. */
  onChange(silentSince: number | undefined): void;
}

const BEAT_EVERY_MS = 3_000;
/** Beats that go by after a question until its answer is missed: silence is told 6 to 9 s after it began. */
const BEATS_TO_MISS = 2;

/**
 * Tells whether the other side answers. Counts its own beats, each of which is one turn of this process's event loop,
 * and never compares times: neither a sleep of the machine, nor a jump of its clock, nor a pause of this process makes
 * a silence. Never keeps the process alive.
 */
export class Heartbeat implements Disposable {
  private timer: Disposable | undefined;
  private askedAt: number | undefined;
  private missed = 0;
  private silent: number | undefined;

  constructor(
    private readonly parts: HeartbeatParts,
    private readonly everyMs = BEAT_EVERY_MS,
  ) {
    this.arm();
  }

  get silentSince(): number | undefined {
    return this.silent;
  }

  /** Any sign of life. */
  heard(): void {
    this.askedAt = undefined;
    if (this.silent === undefined) return;
    this.silent = undefined;
    this.arm();
    this.parts.onChange(undefined);
  }

  dispose(): void {
    this.timer?.dispose();
  }

  private arm(): void {
    this.timer = this.parts.clock.after(this.everyMs, () => this.beat());
  }

  private beat(): void {
    if (this.askedAt === undefined) {
      this.askedAt = this.parts.clock.now();
      this.missed = 0;
      this.parts.ask();
    } else {
      this.missed += 1;
      if (this.missed >= BEATS_TO_MISS) {
        // The question stays open: its answer, however late, ends the silence.
        this.silent = this.askedAt;
        this.parts.onChange(this.silent);
        return;
      }
    }
    this.arm();
  }
}
