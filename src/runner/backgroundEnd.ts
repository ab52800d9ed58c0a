import { asOutput, type KernelOutput } from '../kernel/output';
import type { BackgroundOutcome, BackgroundStatus } from './backgroundTypes';

// Whoever reads these may be another program: what went wrong inside stays in the log.
const EXECUTION_FAILED = 'background execution failed';
/** The error of a run that was stopped with its kernel: asked for, and nothing that went wrong inside. */
export const KILLED = 'It was killed.';
const CLEANUP_FAILED = 'background cleanup failed';

/** How the execution of a background run ended. */
export type Execution =
  | { readonly kind: 'ended'; readonly outcome: BackgroundOutcome }
  /** Something beside the code failed. */
  | { readonly kind: 'failed' }
  /** With its kernel. */
  | { readonly kind: 'killed' }
  /** It was interrupted before its kernel had started. */
  | { readonly kind: 'calledOff' };

export interface RunEnd {
  readonly status: Exclude<BackgroundStatus, 'running'>;
  readonly interrupted: boolean;
  readonly error: string | undefined;
}

/** `isCleanedUp`: the kernel is gone and the lease released. */
export function endOf(execution: Execution, isCleanedUp: boolean): RunEnd {
  const end = endOfExecution(execution);
  if (isCleanedUp || end.status === 'failed') return end;
  return { ...end, status: 'failed', error: CLEANUP_FAILED };
}

function endOfExecution(execution: Execution): RunEnd {
  switch (execution.kind) {
    case 'failed':
      return { status: 'failed', interrupted: false, error: EXECUTION_FAILED };
    case 'killed':
      return { status: 'failed', interrupted: false, error: KILLED };
    case 'calledOff':
      return { status: 'interrupted', interrupted: true, error: undefined };
    case 'ended':
      return endOfCode(execution.outcome);
  }
}

function endOfCode(outcome: BackgroundOutcome): RunEnd {
  const error = outcome.error || undefined;
  if (outcome.interrupted === true) return { status: 'interrupted', interrupted: true, error };
  return { status: error === undefined ? 'done' : 'failed', interrupted: false, error };
}

/** What the head of a run's output keeps of a piece. The code's error has a field of its own. */
export function headTextOf(piece: KernelOutput | string): string {
  const output = asOutput(piece);
  switch (output.type) {
    case 'stream':
      return output.text;
    case 'result': {
      const plain = output.data['text/plain'];
      return typeof plain === 'string' ? `${plain}\n` : '';
    }
    case 'gap':
      return `[${output.lines} lines left out here]\n`;
    case 'display':
    case 'updateDisplay':
    case 'error':
    case 'clear':
      return '';
  }
}
