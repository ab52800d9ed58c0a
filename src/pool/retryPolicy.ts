/** What is true around a session when one of its attempts ends without evidence. */
export interface Surroundings {
  /** As many kernels are counted as there are slots. */
  readonly poolFull: boolean;
  /** Another session has its key. */
  readonly keyTaken: boolean;
  /** The kernel is past the asking step of its stop: it takes no more code. */
  readonly takesNoCode: boolean;
  /** A global disposal joined the attempt: it wants the kernel gone now, room or not. */
  readonly goneWanted: boolean;
  readonly retryIntervalMs: number;
}

type AfterUnconfirmed =
  /** One attempt without a limit, at once; the session stays claimed. */
  | { readonly kind: 'retryNow' }
  | {
      readonly kind: 'retryLater';
      readonly afterMs: number;
      readonly retryOn: 'pressure' | 'timer';
      readonly place: 'key' | 'ownName';
    };

/**
 * A limited attempt that failed owes one without a limit: at once where its slot is needed, else at the first
 * pressure or at the interval's end. After an unlimited one only time (or somebody's explicit wish) starts another,
 * or a full pool would call it without end.
 */
export function afterUnconfirmed(wasLimited: boolean, around: Surroundings): AfterUnconfirmed {
  if (wasLimited && (around.poolFull || around.goneWanted)) return { kind: 'retryNow' };
  return {
    kind: 'retryLater',
    afterMs: around.retryIntervalMs,
    retryOn: wasLimited ? 'pressure' : 'timer',
    place: around.keyTaken || around.takesNoCode ? 'ownName' : 'key',
  };
}

const FAILED_UNLIMITED_TO_UNBLOCK = 3;
export const UNBLOCK_AFTER_MS = 90_000;

/**
 * Whether a kernel on its way out still holds back eviction. One that can't be killed keeps its slot, but others must
 * not wait for it for ever.
 */
export function blocksEviction(
  stop: { readonly claimedAt: number; readonly failedUnlimited?: number },
  now: number,
): boolean {
  return (
    (stop.failedUnlimited ?? 0) < FAILED_UNLIMITED_TO_UNBLOCK &&
    now - stop.claimedAt < UNBLOCK_AFTER_MS
  );
}
