import type { StopProgress } from '../../kernel/kernel';
import type { StopDeadlines } from '../../kernel/limits';

/** A limited stop sends its kill this long before its end. */
const KILL_BEFORE_END_MS = 500;

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
  const all: { step: PlannedStep['step']; duration: number }[] = [
    { step: 'ask', duration: busy ? deadlines.askBusy : deadlines.askIdle },
    { step: 'interrupt', duration: busy ? deadlines.interrupt : 0 },
    { step: 'terminate', duration: deadlines.terminate },
  ];
  const milder = all.filter(({ duration }) => duration > 0);
  const natural = milder.reduce((sum, { duration }) => sum + duration, 0);
  const killAt = limitMs === undefined ? natural : limitMs - KILL_BEFORE_END_MS;
  const end = limitMs === undefined ? natural + deadlines.kill : limitMs - ANSWER_BEFORE_END_MS;
  if (killedBefore || killAt <= 0 || natural === 0) {
    return [{ step: 'kill', until: Math.max(0, Math.min(end, deadlines.kill)) }];
  }
  const scale = Math.min(1, killAt / natural);
  const steps: PlannedStep[] = [];
  let at = 0;
  for (const { step, duration } of milder) {
    at += duration * scale;
    // The last one has all the time that is left.
    steps.push({ step, until: step === milder.at(-1)?.step ? killAt : at });
  }
  return [...steps, { step: 'kill', until: end }];
}
