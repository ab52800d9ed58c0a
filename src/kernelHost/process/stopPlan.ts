import type { StopProgress } from '../../kernel/kernel';

/** How long each step of a stop waits for the exit before the next one begins, in ms. */
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

/** A limited stop sends its kill this long before its end. */
export const KILL_BEFORE_END_MS = 500;

/** Of those 500 ms the last ones are for the answer's way. */
export const ANSWER_BEFORE_END_MS = 100;

export interface PlannedStep {
  readonly step: Exclude<StopProgress['step'], 'sweep'>;
  /** When the next step begins, in ms from the ladder's start. */
  readonly until: number;
}

export interface StopSituation {
  readonly busy: boolean;
  /** An earlier attempt has come to the kill: nothing milder will be heeded. */
  readonly killedBefore: boolean;
  /** Whole limit in ms; undefined: the sum of the steps. */
  readonly limitMs: number | undefined;
  readonly deadlines: StopDeadlines;
}

/** The steps of a stop in order. Pure: the table that the ladder climbs. */
export function planStop({
  busy,
  killedBefore,
  limitMs,
  deadlines,
}: StopSituation): readonly PlannedStep[] {
  const milder: { step: PlannedStep['step']; duration: number }[] = [
    { step: 'ask', duration: busy ? deadlines.askBusy : deadlines.askIdle },
    ...(busy ? [{ step: 'interrupt' as const, duration: deadlines.interrupt }] : []),
    { step: 'terminate', duration: deadlines.terminate },
  ];
  const natural = milder.reduce((sum, { duration }) => sum + duration, 0);
  const killAt = limitMs === undefined ? natural : limitMs - KILL_BEFORE_END_MS;
  const end = limitMs === undefined ? natural + deadlines.kill : limitMs - ANSWER_BEFORE_END_MS;
  if (killedBefore || killAt <= 0) {
    return [{ step: 'kill', until: Math.max(0, Math.min(end, deadlines.kill)) }];
  }
  const scale = Math.min(1, killAt / natural);
  const steps: PlannedStep[] = [];
  let at = 0;
  for (const { step, duration } of milder) {
    at += duration * scale;
    steps.push({ step, until: step === 'terminate' ? killAt : at });
  }
  return [...steps, { step: 'kill', until: end }];
}

/** Longest time that an unlimited stop takes, in ms. */
export function longestStop(deadlines: StopDeadlines): number {
  const { askIdle, askBusy, interrupt, terminate, kill, sweep } = deadlines;
  return Math.max(askIdle, askBusy + interrupt) + terminate + kill + sweep;
}
