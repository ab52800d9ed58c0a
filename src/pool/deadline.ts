import type { Clock } from '../base/clock';
import { toDisposable, type Disposable } from '../base/disposable';

/** Why a caller's patience ended. */
export type LimitCause =
  | { readonly kind: 'aborted' }
  /** `limitMs`: what the limit was, for people. */
  | { readonly kind: 'timedOut'; readonly limitMs: number };

/** What a caller sets. Times in ms; `deadlineMs` since the epoch beats `timeoutMs` from the call. */
interface CallLimits {
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** Since the epoch; undefined: no limit in time. */
export function deadlineAt(limits: CallLimits, now: number): number | undefined {
  if (isTime(limits.deadlineMs)) return limits.deadlineMs;
  return isTime(limits.timeoutMs) ? now + limits.timeoutMs : undefined;
}

function isTime(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}

/** An abort for a passed time limit is a timeout, whoever set the limit. */
export function causeOfAbort(reason: unknown, elapsedMs: number): LimitCause {
  return hasName(reason, 'TimeoutError')
    ? { kind: 'timedOut', limitMs: elapsedMs }
    : { kind: 'aborted' };
}

/** A rejection that says that the limit which was passed along ended it. */
export function saysLimitPassed(error: unknown): boolean {
  return hasName(error, 'TimeoutError') || hasName(error, 'AbortError');
}

function hasName(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && 'name' in value && value.name === name;
}

/** The reason for an abort that a kernel is given, told by name as the platform does. */
export function abortReason(cause: Pick<LimitCause, 'kind'>): DOMException {
  switch (cause.kind) {
    case 'aborted':
      return new DOMException('The run was aborted.', 'AbortError');
    case 'timedOut':
      return new DOMException('The run passed its time limit.', 'TimeoutError');
  }
}

/** Whether the limits are over already; else undefined. */
export function causeOnEntry(limits: CallLimits, now: number): LimitCause | undefined {
  if (limits.signal?.aborted) return causeOfAbort(limits.signal.reason, 0);
  const at = deadlineAt(limits, now);
  if (at === undefined || at > now) return undefined;
  return { kind: 'timedOut', limitMs: at - now };
}

/** Calls once, when the first limit is over. Dispose to stop watching. */
export function watchLimits(
  clock: Clock,
  limits: CallLimits,
  onOver: (cause: LimitCause) => void,
): Disposable {
  const { signal } = limits;
  const startedAt = clock.now();
  const at = deadlineAt(limits, startedAt);
  if (at === undefined && signal === undefined) return nothingToWatch;
  const over = (cause: LimitCause): void => {
    watch.dispose();
    onOver(cause);
  };
  const onAbort = (): void => over(causeOfAbort(signal?.reason, clock.now() - startedAt));
  const timer =
    at === undefined
      ? undefined
      : clock.after(at - startedAt, () => over({ kind: 'timedOut', limitMs: at - startedAt }));
  signal?.addEventListener('abort', onAbort);
  const watch = toDisposable(() => {
    timer?.dispose();
    signal?.removeEventListener('abort', onAbort);
  });
  return watch;
}

const nothingToWatch: Disposable = { dispose() {} };
