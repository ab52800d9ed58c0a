import type { Clock } from '../base/clock';
import type { PooledKernel } from '../kernel/kernel';
import type { Turn } from './call';
import { settleWithin } from './disposal';
import { KernelStart } from './kernelStart';
import type { RunCall } from './runCall';
import { stopKernel } from './stopAttempt';
import type { ExecutionResult } from './types';

interface PerCallParts {
  readonly clock: Clock;
  readonly startTimeoutMs: number;
  /** The caller waits no longer than this for its kernel's stop. */
  readonly stopWaitMs: number;
  start(signal: AbortSignal): Promise<PooledKernel>;
}

/** A kernel of its own around one run: never retained, never counted. How its stop ends does not change the result. */
export async function runPerCall(call: RunCall, parts: PerCallParts): Promise<ExecutionResult> {
  let kernel: PooledKernel | undefined;
  let isWanted = true;
  const start = new KernelStart(
    (signal) => parts.start(signal),
    { clock: parts.clock, timeoutMs: parts.startTimeoutMs },
    {
      onKernel: (arrived) => {
        if (isWanted) {
          kernel = arrived;
          call.place = undefined;
          call.perform(arrived, turnOn(arrived));
        } else void stopKernel(arrived, { kind: 'unlimited' });
      },
      onFailed: (error) => call.fail(error),
      onOverdue: (error) => call.fail(error),
    },
  );
  call.place = { waitingFor: () => 'its kernel to start', leave: () => start.abort() };
  try {
    return await call.result;
  } finally {
    isWanted = false;
    if (kernel) {
      const stopped = stopKernel(kernel, { kind: 'unlimited' }).then(() => undefined);
      await settleWithin(parts.clock, parts.stopWaitMs, [stopped]);
    }
  }
}

/** Nobody comes after it, and nobody watches. */
function turnOn(kernel: PooledKernel): Turn {
  return {
    news: [],
    onChange() {},
    onLateOutput() {},
    onFree() {},
    // Its one shutdown follows the answer: only a kill is to be had before.
    stopKernel: async () => {
      if (kernel.kill) await stopKernel(kernel, { kind: 'kill' });
    },
  };
}
