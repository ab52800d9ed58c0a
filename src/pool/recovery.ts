import { type Clock } from '../base/clock';
import type { Log } from '../base/log';
import type { PooledKernel } from '../kernel/kernel';
import { settleWithin } from './disposal';
import { isOutOfResources } from './resources';

interface RecoveryParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Limit of the transport's hook in ms. */
  hookTimeoutMs(): number;
  /** Force-kills and forgets every draining kernel. */
  dropDraining(): void;
  /** The transport's own way to win back what it holds. */
  recoverResources?(): Promise<void>;
}

/** Starts that fail for want of resources get a second try, after what is on its way out has been let go of. */
export class Recovery {
  private underWay: Promise<void> | undefined;

  constructor(private readonly parts: RecoveryParts) {}

  /** Calls `start` once, or twice; the second failure is the caller's. Synchronous up to the first call. */
  async start(start: () => Promise<PooledKernel>, signal: AbortSignal): Promise<PooledKernel> {
    try {
      return await start();
    } catch (error) {
      if (!isOutOfResources(error) || signal.aborted) throw error;
      this.parts.log.warn('A kernel start is out of resources: draining kernels are let go of.');
      await this.recover();
      if (signal.aborted) throw error;
    }
    return start();
  }

  /** Starts that fail together are recovered together. */
  private recover(): Promise<void> {
    this.underWay ??= this.recoverNow().finally(() => (this.underWay = undefined));
    return this.underWay;
  }

  private async recoverNow(): Promise<void> {
    const { clock, log } = this.parts;
    this.parts.dropDraining();
    const hook = this.callHook().catch((error: unknown) =>
      log.error('Recovering resources failed.', error),
    );
    if (!(await settleWithin(clock, this.parts.hookTimeoutMs(), [hook]))) {
      log.warn('Recovering resources takes too long; the start is tried again without it.');
    }
  }

  private async callHook(): Promise<void> {
    await this.parts.recoverResources?.();
  }
}
