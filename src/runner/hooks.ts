import type { KernelOutput } from '../kernel/output';
import type { ExecutionResult } from '../pool/types';
import { unlessAborted } from './unlessAborted';

/** What a before-run hook is told. */
export interface BeforeRun {
  readonly language: string;
  readonly code: string;
  /** Absolute path. */
  readonly cwd: string;
  /** The run is kept out of the agent's context. */
  readonly excludeFromContext: boolean;
}

/** A `result` stands in for the run's own: it is put out, recorded and returned, and the code goes to no kernel. */
export interface BeforeRunAnswer {
  readonly result?: ExecutionResult | undefined;
}

type Answer = BeforeRunAnswer | null | undefined | void;

/** Asked before each run, in the order of registration. One that throws rejects the run. */
export type BeforeRunHook = (run: BeforeRun) => Answer | PromiseLike<Answer>;

interface HookRound {
  /** Throws where the run may not go on. Called after each answer. */
  assertOpen(): void;
  /** Ends the waiting for answers. */
  readonly signal: AbortSignal;
}

/** What a kernel would have put out for a result that a hook has supplied. */
export function outputOf({ output, displayOutputs }: ExecutionResult): KernelOutput[] {
  return [
    ...(output === '' ? [] : [{ type: 'stream' as const, name: 'stdout' as const, text: output }]),
    ...displayOutputs.map((display) => ({ type: 'display' as const, ...display })),
  ];
}

/** The result that the first hook with one supplies, or undefined: the run goes on. */
export async function askHooks(
  hooks: readonly BeforeRunHook[],
  run: BeforeRun,
  { assertOpen, signal }: HookRound,
): Promise<ExecutionResult | undefined> {
  // One that comes or goes meanwhile counts from the next run on.
  for (const hook of [...hooks]) {
    // A copy each: what one hook does to it is not told to the next.
    const answer = await unlessAborted(hook({ ...run }), signal);
    assertOpen();
    if (signal.aborted) return undefined;
    if (answer?.result) return answer.result;
  }
  return undefined;
}
