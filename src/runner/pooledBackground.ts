import { HoldfastError } from '../base/errors';
import type { CodeSource, ExecutionReply, InterruptVerdict } from '../kernel/execution';
import { asOutput } from '../kernel/output';
import type { PooledKernel, ShutdownOutcome } from '../kernel/kernel';
import type { BackgroundKernel, BackgroundOutcome, OnOutput } from './backgroundTypes';

const CANNOT_INTERRUPT: InterruptVerdict = {
  delivered: false,
  target: 'its kernel',
  reason: 'This kernel can’t be interrupted.',
};

type Send = (onOutput: OnOutput, signal: AbortSignal) => ReturnType<PooledKernel['execute']>;

/** A kernel as the pool's, for one background run. What can't be confirmed rejects with `stop_unconfirmed`. */
export function backgroundKernelOf(
  kernel: PooledKernel,
  executionId: string,
  source?: CodeSource,
): BackgroundKernel {
  return {
    execute: (code, { onOutput }) =>
      outcomeOf(kernel, onOutput, (take, signal) =>
        kernel.execute(code, { executionId, onOutput: take, signal, ...(source && { source }) }),
      ),
    // Not bound to the execution: an interrupt of the clean-up after it is one, too.
    interrupt: async () => (kernel.interrupt ? kernel.interrupt() : CANNOT_INTERRUPT),
    kill: async () => assertConfirmed(await (kernel.kill?.() ?? kernel.shutdown(undefined))),
    shutdown: async () => assertConfirmed(await kernel.shutdown(undefined)),
  };
}

/** Takes up the execution of an earlier window, for `takeUp`. */
export function resumed(
  kernel: PooledKernel,
  executionId: string,
  onOutput: OnOutput,
): Promise<BackgroundOutcome> {
  return outcomeOf(kernel, onOutput, (take, signal) => {
    if (!kernel.resume) throw new HoldfastError('kernel_not_found', 'The run can’t be taken up.');
    return kernel.resume({ executionId, onOutput: take, signal });
  });
}

async function outcomeOf(
  kernel: PooledKernel,
  onOutput: OnOutput,
  send: Send,
): Promise<BackgroundOutcome> {
  let traceback: string | undefined;
  const take: OnOutput = (piece) => {
    const output = asOutput(piece);
    if (output.type === 'error') traceback = output.traceback;
    onOutput(piece);
  };
  // Background runs are interrupted by name, never by their signal.
  const reply = await send(take, new AbortController().signal);
  if (reply.cancelled && !kernel.isAlive()) {
    throw new HoldfastError('kernel_died', kernel.exit?.summary ?? 'The kernel died.');
  }
  return outcomeOfReply(reply, traceback);
}

/** Of a kernel that lived. `traceback`: the last that the code showed. */
export function outcomeOfReply(
  reply: ExecutionReply,
  traceback: string | undefined,
): BackgroundOutcome {
  if (reply.cancelled) return { interrupted: true };
  if (reply.stdinRequested)
    return { error: 'The code asked for input, and nobody can answer in the background.' };
  if (reply.status === 'ok') return {};
  return { error: traceback ?? 'The code failed.' };
}

function assertConfirmed({ confirmed, reason }: ShutdownOutcome): void {
  if (confirmed) return;
  throw new HoldfastError('stop_unconfirmed', reason ?? 'Its exit was not observed.');
}
