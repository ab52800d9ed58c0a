import { systemClock } from '../base/clock';
import type { Log } from '../base/log';
import type { EmbeddedKernel } from './embedded/kernel';

/** Kernels that nobody waits for and whose end is not confirmed: ended again and again until it is. */
export class Leftovers {
  private readonly kernels = new Set<EmbeddedKernel>();

  constructor(
    private readonly log: Log,
    private readonly retryEveryMs: number,
  ) {}

  get all(): readonly EmbeddedKernel[] {
    return [...this.kernels];
  }

  add(kernel: EmbeddedKernel): void {
    this.kernels.add(kernel);
    const again = (): void => {
      this.log.warn(`Kernel ${kernel.pid}, which nobody waits for, is not gone yet.`);
      void kernel.kill().then(({ confirmed }) => {
        if (confirmed) this.kernels.delete(kernel);
        else timer = systemClock.after(this.retryEveryMs, again);
      });
    };
    let timer = systemClock.after(this.retryEveryMs, again);
    void kernel.exited.then(() => {
      timer.dispose();
      this.kernels.delete(kernel);
    });
  }
}
