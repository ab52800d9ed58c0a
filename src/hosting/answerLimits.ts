import { ABORT_KILL_AFTER_MS, longestKill, longestStop, type KernelLimits } from '../kernel/limits';

/**
 * How long an answer of the host may take beyond what the asked thing itself may, in ms. Past it, it is the host that does
 * not answer.
 */
export const ANSWER_WITHIN_MS = 5_000;

/** Limits of the answers that wait for something, in ms from the request: they follow from the host's own limits. */
export function answerLimits({ stop, readyWithinMs }: KernelLimits): {
  /** A start that fails stops what came of it. */
  readonly start: number;
  readonly stop: number;
  readonly kill: number;
  /** An abort that is not heeded comes to a kill. */
  readonly abort: number;
} {
  const kill = longestKill(stop) + ANSWER_WITHIN_MS;
  return {
    start: readyWithinMs + kill,
    stop: longestStop(stop) + ANSWER_WITHIN_MS,
    kill,
    abort: ABORT_KILL_AFTER_MS + kill,
  };
}
