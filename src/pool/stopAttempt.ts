import { deferred } from '../base/deferred';
import { messageOf } from '../base/errors';
import type { PooledKernel, ShutdownOutcome } from '../kernel/kernel';
import { saysLimitPassed } from './deadline';
import type { StopMethod } from './sessionState';

/** How an attempt ended. Not confirmed is an expected outcome, so that it is a value also where the kernel threw. */
export type AttemptAnswer =
  | { readonly confirmed: true }
  | {
      readonly confirmed: false;
      readonly reason: string;
      /** It ended because its own limit passed. */
      readonly limitPassed: boolean;
    };

/** One attempt under way, which any number of disposers join. */
export class StopAttempt {
  private readonly over = deferred();
  /** A global disposal joined: after a failure of this one the next follows at once. */
  goneWanted = false;

  /** Resolves when it has ended and what follows from that has been begun. Never rejects. */
  get ended(): Promise<void> {
    return this.over.promise;
  }

  end(): void {
    this.over.resolve();
  }
}

/** Asks the kernel to go. Synchronous up to the kernel's own call. */
export async function stopKernel(kernel: PooledKernel, method: StopMethod): Promise<AttemptAnswer> {
  try {
    const outcome = await callOf(kernel, method);
    if (outcome.confirmed) return { confirmed: true };
    const reason = outcome.reason ?? 'Its exit was not observed.';
    return { confirmed: false, reason, limitPassed: false };
  } catch (error) {
    return { confirmed: false, reason: messageOf(error), limitPassed: saysLimitPassed(error) };
  }
}

function callOf(kernel: PooledKernel, method: StopMethod): Promise<ShutdownOutcome> {
  switch (method.kind) {
    case 'limited':
      return kernel.shutdown({ timeoutMs: method.timeoutMs });
    case 'unlimited':
      return kernel.shutdown(undefined);
    case 'kill':
      return kernel.kill ? kernel.kill() : kernel.shutdown(undefined);
  }
}
