import type { Clock } from '../base/clock';
import type { Log } from '../base/log';
import type { PooledKernel } from '../kernel/kernel';
import type { Session } from './session';

const SAMPLE_LIMIT_MS = 5_000;
const MIB = 1024 * 1024;

interface MemoryWatchParts {
  readonly clock: Clock;
  readonly log: Log;
  /** 0: no cap. */
  capMb(): number;
  isHeldByWindow(session: Session): boolean;
  changed(session: Session): void;
}

interface Sample {
  readonly kernel: PooledKernel;
  readonly bytes: number;
}

/** Looks at a kernel's memory after its runs, and replaces one that has grown beyond the cap once it is idle. */
export class MemoryWatch {
  private readonly sampling = new Set<PooledKernel>();
  private readonly tooBig = new Map<Session, Sample>();

  constructor(private readonly parts: MemoryWatchParts) {}

  /** A run has ended. */
  sample(session: Session): void {
    const { kernel } = session.slot;
    if (!kernel?.memory || this.sampling.has(kernel)) return;
    this.sampling.add(kernel);
    // A kernel that doesn't answer must not end the sampling for good.
    const limit = this.parts.clock.after(SAMPLE_LIMIT_MS, () => this.sampling.delete(kernel));
    kernel
      .memory()
      .then(
        (bytes) => this.sampled(session, kernel, bytes),
        (error: unknown) =>
          this.parts.log.debug(`Memory of a kernel is not known: ${String(error)}`),
      )
      .finally(() => {
        limit.dispose();
        this.sampling.delete(kernel);
      });
  }

  /** The session is idle: the moment for what was due. */
  recycleIfDue(session: Session): void {
    const sample = this.tooBig.get(session);
    if (!sample || !session.isIdle || session.state.kind !== 'live') return;
    this.tooBig.delete(session);
    if (sample.kernel !== session.slot.kernel || this.parts.isHeldByWindow(session)) return;
    const used = Math.round(sample.bytes / MIB);
    const reason = `it was recycled, using ${used} MiB of memory where ${this.parts.capMb()} MiB are allowed`;
    session.replace('recycled', { kind: 'unlimited' }, reason);
  }

  forget(session: Session): void {
    this.tooBig.delete(session);
  }

  private sampled(session: Session, kernel: PooledKernel, bytes: number | undefined): void {
    if (bytes === undefined || session.slot.kernel !== kernel) return;
    const capMb = this.parts.capMb();
    const isAbove = capMb > 0 && bytes > capMb * MIB;
    session.slot.memoryBytes = bytes;
    session.slot.isAboveMemoryCap = isAbove && this.parts.isHeldByWindow(session);
    this.parts.changed(session);
    if (!isAbove || session.slot.isAboveMemoryCap) this.tooBig.delete(session);
    else {
      this.tooBig.set(session, { kernel, bytes });
      this.recycleIfDue(session);
    }
  }
}
