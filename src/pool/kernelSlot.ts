import { DisposableStore } from '../base/disposable';
import type { Clock } from '../base/clock';
import type { PooledKernel, StopProgress } from '../kernel/kernel';
import type { KernelOutput } from '../kernel/output';
import { KernelStart } from './kernelStart';

export type StartKernel = (signal: AbortSignal) => Promise<PooledKernel>;

interface KernelSlotEvents {
  onKernel(): void;
  onStartFailed(error: unknown): void;
  onStartOverdue(error: Error): void;
  /** A kernel that came when another start or none was wanted. */
  onStray(kernel: PooledKernel): void;
  onExit(): void;
  onChange(): void;
  onLateOutput(executionId: string | undefined, output: KernelOutput): void;
}

/** The one kernel of a session, on its way or there, and what is known of it. Each kernel has its own listeners. */
export class KernelSlot {
  kernel: PooledKernel | undefined;
  stopProgress: StopProgress | undefined;
  memoryBytes: number | undefined;
  isAboveMemoryCap = false;
  /** Where its code has gone, as far as it tells; undefined: nowhere yet. */
  workingDirectory: string | undefined;
  private starting: KernelStart | undefined;
  private listeners = new DisposableStore();

  constructor(private readonly events: KernelSlotEvents) {}

  get isAlive(): boolean {
    return this.kernel?.isAlive() === true;
  }

  start(begin: StartKernel, clock: Clock, timeoutMs: number): void {
    const { events } = this;
    const start: KernelStart = new KernelStart(
      begin,
      { clock, timeoutMs },
      {
        onKernel: (kernel) =>
          this.starting === start ? this.arrived(kernel) : events.onStray(kernel),
        onFailed: (error) => {
          if (this.starting !== start) return;
          this.starting = undefined;
          events.onStartFailed(error);
        },
        onOverdue: (error) => this.starting === start && events.onStartOverdue(error),
      },
    );
    this.starting = start;
  }

  abortStart(): void {
    this.starting?.abort();
  }

  /** Lets go of whatever is there. A start that still is under way ends as a stray. */
  clear(): void {
    this.listeners.dispose();
    this.listeners = new DisposableStore();
    this.starting = undefined;
    this.kernel = undefined;
    this.stopProgress = undefined;
    this.memoryBytes = undefined;
    this.isAboveMemoryCap = false;
    this.workingDirectory = undefined;
  }

  private arrived(kernel: PooledKernel): void {
    this.starting = undefined;
    this.kernel = kernel;
    const { events } = this;
    const subscriptions = [
      kernel.onDidExit?.(() => events.onExit()),
      kernel.onDidStopStep?.((progress) => {
        this.stopProgress = progress;
        events.onChange();
      }),
      kernel.onDidChangeSilence?.(() => events.onChange()),
      kernel.onDidLateOutput?.(({ executionId, output }) =>
        events.onLateOutput(executionId, output),
      ),
    ];
    for (const subscription of subscriptions) if (subscription) this.listeners.add(subscription);
    events.onKernel();
  }
}
