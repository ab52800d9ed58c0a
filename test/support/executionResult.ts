import type { ExecutionResult } from '../../src/pool/types';

/** The result of a run that printed nothing and went well, but for `more`. */
export function resultOf(more: Partial<ExecutionResult> = {}): ExecutionResult {
  return {
    output: '',
    exitCode: 0,
    cancelled: false,
    truncated: false,
    totalLines: 0,
    totalBytes: 0,
    outputLines: 0,
    outputBytes: 0,
    displayOutputs: [],
    stdinRequested: false,
    ...more,
  };
}
