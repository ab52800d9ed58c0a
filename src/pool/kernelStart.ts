import type { Clock } from '../base/clock';
import { HoldfastError } from '../base/errors';
import type { PooledKernel } from '../kernel/kernel';

interface KernelStartEvents {
  onKernel(kernel: PooledKernel): void;
  onFailed(error: unknown): void;
  /** The limit passed: the start is aborted, and its end is still to come. */
  onOverdue(error: HoldfastError): void;
}

/** One start under way. It ends with a kernel or a failure, exactly once, however late. */
export class KernelStart {
  private readonly abortion = new AbortController();

  constructor(
    start: (signal: AbortSignal) => Promise<PooledKernel>,
    limit: { readonly clock: Clock; readonly timeoutMs: number },
    events: KernelStartEvents,
  ) {
    const timer = limit.clock.after(limit.timeoutMs, () => {
      const error = new HoldfastError(
        'start_timeout',
        `The kernel did not start within ${Math.round(limit.timeoutMs / 1000)} s. Check the interpreter, or raise the limit.`,
      );
      this.abort(error);
      events.onOverdue(error);
    });
    start(this.abortion.signal).then(
      (kernel) => {
        timer.dispose();
        events.onKernel(kernel);
      },
      (error: unknown) => {
        timer.dispose();
        events.onFailed(error);
      },
    );
  }

  abort(reason: unknown = new DOMException('The session was disposed.', 'AbortError')): void {
    this.abortion.abort(reason);
  }
}
