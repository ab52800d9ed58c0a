import { deferred, type Deferred } from '../../src/base/deferred';
import type { InterruptVerdict } from '../../src/kernel/execution';
import { createBackgroundRuns } from '../../src/runner/background';
import type {
  BackgroundKernel,
  BackgroundOutcome,
  BackgroundRuns,
  BackgroundRunsOptions,
  OnOutput,
} from '../../src/runner/backgroundTypes';

/** A background run's kernel that does what a test tells it, and nothing by itself but a clean shutdown. */
export class FakeBackgroundKernel implements BackgroundKernel {
  readonly executions: string[] = [];
  readonly outcome: Deferred<BackgroundOutcome> = deferred();
  interrupts = 0;
  kills = 0;
  shutdowns = 0;
  print: OnOutput = () => undefined;
  onInterrupt: () => Promise<InterruptVerdict | undefined> = () => Promise.resolve(undefined);
  onKill: () => Promise<void> = () => Promise.resolve();
  onShutdown: () => Promise<void> = () => Promise.resolve();

  execute(code: string, { onOutput }: { readonly onOutput: OnOutput }): Promise<BackgroundOutcome> {
    this.executions.push(code);
    this.print = onOutput;
    return this.outcome.promise;
  }

  interrupt(): Promise<InterruptVerdict | undefined> {
    this.interrupts++;
    return this.onInterrupt();
  }

  kill(): Promise<void> {
    this.kills++;
    return this.onKill();
  }

  shutdown(): Promise<void> {
    this.shutdowns++;
    return this.onShutdown();
  }
}

export interface BackgroundWorld {
  readonly runs: BackgroundRuns;
  readonly kernels: FakeBackgroundKernel[];
  /** Leases that were entered and are not released. */
  leases: number;
  readonly logged: unknown[];
}

export function backgroundWorld(more: Partial<BackgroundRunsOptions> = {}): BackgroundWorld {
  const kernels: FakeBackgroundKernel[] = [];
  const logged: unknown[] = [];
  const world = { kernels, logged, leases: 0 };
  let ids = 0;
  const runs = createBackgroundRuns({
    startKernel: () => {
      const kernel = new FakeBackgroundKernel();
      kernels.push(kernel);
      return Promise.resolve(kernel);
    },
    enterLease: () => {
      world.leases++;
      return { release: () => void world.leases-- };
    },
    newId: () => `run-${++ids}`,
    log: {
      warn: (text) => void logged.push(text),
      error: (text, error) => void logged.push(text, error),
    },
    ...more,
  });
  return Object.assign(world, { runs });
}
