import type { Clock } from '../../base/clock';
import type { Disposable } from '../../base/disposable';
import type { PooledKernel } from '../../kernel/kernel';
import type { KernelFacts } from '../sessions/kernelRows';

/** A measurement costs a look at all processes. */
const MEMORY_EVERY_MS = 10_000;

interface Watched {
  readonly kernel: PooledKernel;
  readonly listening: Disposable | undefined;
  memoryBytes: number | undefined;
  /** ms since the epoch. */
  measureFrom: number;
}

/** What is known of the kernels of runs that go on. Their memory is measured when somebody looks, and known at a later look. */
export class KernelWatch {
  private readonly kernels = new Map<string, Watched>();

  constructor(
    private readonly clock: Clock,
    private readonly onChange: () => void,
  ) {}

  add(executionId: string, kernel: PooledKernel): void {
    const listening = kernel.onDidChangeSilence?.(() => this.onChange());
    this.kernels.set(executionId, { kernel, listening, memoryBytes: undefined, measureFrom: 0 });
  }

  /** The run is over. */
  remove(executionId: string): void {
    this.kernels.get(executionId)?.listening?.dispose();
    this.kernels.delete(executionId);
  }

  look(executionId: string): KernelFacts {
    const watched = this.kernels.get(executionId);
    if (!watched) return {};
    void this.measure(watched);
    const { kernel, memoryBytes } = watched;
    return { pid: kernel.pid, silence: kernel.silence, memoryBytes };
  }

  private async measure(watched: Watched): Promise<void> {
    const now = this.clock.now();
    if (now < watched.measureFrom) return;
    watched.measureFrom = now + MEMORY_EVERY_MS;
    // A figure for people: the last one stays where there is no new one.
    const bytes = await watched.kernel.memory?.().catch(() => undefined);
    watched.memoryBytes = bytes ?? watched.memoryBytes;
  }
}
