import type { ExecutionReply } from '../kernel/execution';
import type { LimitCause } from './deadline';

/** How a run ended whose code was sent. */
export type RunEnd =
  | { readonly kind: 'replied'; readonly reply: ExecutionReply }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'timedOut'; readonly limitMs: number; readonly killed: boolean }
  /** The kernel went away under it. */
  | { readonly kind: 'kernelGone'; readonly cause: string };

/** Why a call ended without its code having been sent. */
export type NotRunCause =
  /** `waitingFor`: in half a sentence, for people. */
  | (LimitCause & { readonly waitingFor?: string })
  /** Whoever it ran for let go of the session. */
  | { readonly kind: 'released' }
  /** The session ended before its turn. `reason`: a sentence, for people. */
  | { readonly kind: 'sessionEnded'; readonly reason: string };

/** What a result says of an end, apart from its output. */
export interface Verdict {
  readonly exitCode: number | undefined;
  readonly cancelled: boolean;
  readonly stdinRequested: boolean;
  /** A line of ours at the end of the output. */
  readonly note: string | undefined;
}

const cancelled = (note: string | undefined): Verdict => ({
  exitCode: undefined,
  cancelled: true,
  stdinRequested: false,
  note,
});

/** The end of a run that was interrupted for a limit. */
export function endOfLimit(limit: LimitCause, killed: boolean): RunEnd {
  return limit.kind === 'timedOut' ? { ...limit, killed } : limit;
}

/** The end of a run whose kernel is gone, `limit` being what the run was interrupted for. */
export function endOfKernel(limit: LimitCause | undefined, cause: string): RunEnd {
  return limit === undefined ? { kind: 'kernelGone', cause } : endOfLimit(limit, true);
}

/** The end that a reply stands for. `gone`: how the kernel died, if it has. */
export function endOfReply(
  reply: ExecutionReply,
  limit: LimitCause | undefined,
  elapsedMs: number,
  gone: string | undefined,
): RunEnd {
  // A run that had completed before its interrupt arrived has completed all the same.
  const completed = reply.status === 'ok' && !reply.cancelled && !reply.timedOut;
  if (completed) return { kind: 'replied', reply };
  const killed = reply.killed === true || gone !== undefined;
  if (limit !== undefined) return endOfLimit(limit, killed);
  if (reply.timedOut) return { kind: 'timedOut', limitMs: elapsedMs, killed };
  if (!reply.cancelled) return { kind: 'replied', reply };
  return gone === undefined ? { kind: 'aborted' } : { kind: 'kernelGone', cause: gone };
}

/** How a session's queue sees the end. */
export function outcomeOf(end: RunEnd): 'ok' | 'error' | 'cancelled' {
  if (end.kind !== 'replied') return 'cancelled';
  return end.reply.status;
}

export function verdictOfRun(end: RunEnd): Verdict {
  switch (end.kind) {
    case 'replied':
      return verdictOfReply(end.reply);
    case 'aborted':
      return cancelled(undefined);
    case 'timedOut':
      return cancelled(
        end.killed
          ? `Timed out after ${seconds(end.limitMs)}; the run did not heed its interrupt, and the kernel was killed. Variables are lost.`
          : `Timed out after ${seconds(end.limitMs)}.`,
      );
    case 'kernelGone':
      return cancelled(
        `${end.cause} Whether this run had completed is uncertain; it is not sent again.`,
      );
  }
}

function verdictOfReply(reply: ExecutionReply): Verdict {
  if (reply.stdinRequested) {
    return {
      exitCode: 1,
      cancelled: false,
      stdinRequested: true,
      note: 'The code asked for input, and nobody can answer here. Pass the value in the code, or run it where a person can type.',
    };
  }
  return {
    exitCode: reply.status === 'ok' ? 0 : 1,
    cancelled: false,
    stdinRequested: false,
    note: undefined,
  };
}

export function verdictOfNotRun(cause: NotRunCause): Verdict {
  switch (cause.kind) {
    case 'aborted':
    case 'released':
      return cancelled(undefined);
    case 'timedOut':
      return cancelled(
        cause.waitingFor === undefined
          ? `Timed out after ${seconds(cause.limitMs)}, before it ran.`
          : `Timed out after ${seconds(cause.limitMs)}, waiting for ${cause.waitingFor}.`,
      );
    case 'sessionEnded':
      return cancelled(`Not run: ${cause.reason}`);
  }
}

function seconds(ms: number): string {
  const whole = Math.max(1, Math.round(ms / 1000));
  return whole === 1 ? '1 second' : `${whole} seconds`;
}
