/** Who holds a lease of a class with one owner: it may take more of them. */
export type OwnerToken = symbol;

export type LeaseClass = 'capture' | 'background' | 'mutation';

/** What the leases that are out add up to. Live; whatever makes it impossible closes the admission for good. */
export interface AdmissionState {
  captureCount: number;
  captureOwner: OwnerToken | undefined;
  backgroundCount: number;
  mutationCount: number;
  mutationOwner: OwnerToken | undefined;
  /** Runs of the window that take no lease. */
  ordinaryCount: number;
}

export const emptyState = (): AdmissionState => ({
  captureCount: 0,
  captureOwner: undefined,
  backgroundCount: 0,
  mutationCount: 0,
  mutationOwner: undefined,
  ordinaryCount: 0,
});

/** What cannot be, in half a sentence; undefined: the state is possible. */
export function impossibilityOf(state: AdmissionState): string | undefined {
  const { captureCount, backgroundCount, mutationCount, ordinaryCount } = state;
  const counts = [captureCount, backgroundCount, mutationCount, ordinaryCount];
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) {
    return 'a count is not a natural number';
  }
  if (!agree(captureCount, state.captureOwner) || !agree(mutationCount, state.mutationOwner)) {
    return 'a count and its owner disagree';
  }
  if ([captureCount, backgroundCount, mutationCount].filter((count) => count > 0).length > 1) {
    return 'two classes are admitted at once';
  }
  if (captureCount > 0 && ordinaryCount > 0) return 'a run goes on beside a capture';
  return undefined;
}

function agree(count: number, owner: OwnerToken | undefined): boolean {
  return count > 0 === (owner !== undefined);
}

/** The class that keeps one from being entered, if any. */
export function obstacleTo(
  wanted: LeaseClass,
  state: AdmissionState,
  token: OwnerToken | undefined,
): LeaseClass | 'run' | undefined {
  const { captureCount, captureOwner, backgroundCount, mutationCount, mutationOwner } = state;
  if (captureCount > 0 && !(wanted === 'capture' && captureOwner === token)) return 'capture';
  if (mutationCount > 0 && !(wanted === 'mutation' && mutationOwner === token)) return 'mutation';
  if (backgroundCount > 0 && wanted !== 'background') return 'background';
  if (state.ordinaryCount > 0 && wanted === 'capture') return 'run';
  return undefined;
}

/** Adds (1) or takes away (-1) a lease. The owner goes with its last one. */
export function count(
  state: AdmissionState,
  leaseClass: LeaseClass,
  by: 1 | -1,
  token: OwnerToken,
): void {
  switch (leaseClass) {
    case 'background':
      state.backgroundCount += by;
      return;
    case 'capture':
      state.captureCount += by;
      state.captureOwner = state.captureCount === 0 ? undefined : token;
      return;
    case 'mutation':
      state.mutationCount += by;
      state.mutationOwner = state.mutationCount === 0 ? undefined : token;
      return;
  }
}
