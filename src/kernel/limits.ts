/** How long each step of a stop waits for the exit before the next one begins, in ms. 0 leaves a step out. */
export interface StopDeadlines {
  /** For a kernel that does nothing: time for its exit handlers. */
  readonly askIdle: number;
  /** For one that runs code: it can only heed when the code ends. */
  readonly askBusy: number;
  readonly interrupt: number;
  readonly terminate: number;
  readonly kill: number;
  /** For those that outlived the leader. */
  readonly sweep: number;
}

export const STOP_DEADLINES: StopDeadlines = {
  askIdle: 3_000,
  askBusy: 200,
  interrupt: 2_000,
  terminate: 2_000,
  kill: 2_000,
  sweep: 1_000,
};

/** What whoever holds kernels in custody goes by. */
export interface KernelLimits {
  readonly stop: StopDeadlines;
  /** Limit of a start from the spawn to the interpreter's first word, in ms. */
  readonly readyWithinMs: number;
}

export const KERNEL_LIMITS: KernelLimits = { stop: STOP_DEADLINES, readyWithinMs: 30_000 };

/** An interrupt that an abort asked for is not heeded: the kernel is killed after this time. */
export const ABORT_KILL_AFTER_MS = 5_000;

/** Longest time that an unlimited stop takes, in ms. */
export function longestStop(deadlines: StopDeadlines): number {
  const { askIdle, askBusy, interrupt, terminate } = deadlines;
  return Math.max(askIdle, askBusy + interrupt) + terminate + longestKill(deadlines);
}

/** The same of a kill at once. */
export function longestKill({ kill, sweep }: StopDeadlines): number {
  return kill + sweep;
}
