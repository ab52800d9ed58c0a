import type { BackgroundFacts } from '../sessions/backgroundRows';
import type { SessionHead } from '../../webview/protocol';
import { keyOf, labelOf } from './session';

/** Tabs of runs that are over; the older ones go as those of sessions that have ended. */
const TABS_OF_OVER = 8;

/** The tabs of background runs. */
export function backgroundHeads(runs: readonly BackgroundFacts[]): readonly SessionHead[] {
  const over = runs.filter(({ done }) => done).slice(-TABS_OF_OVER);
  return [...runs.filter(({ done }) => !done), ...over].map((run) => ({
    key: keyOf(run.request),
    label: labelOf(run.request),
    description: run.silence ? 'not responding · in the background' : 'in the background',
    state: stateOf(run),
  }));
}

function stateOf({ status, phase }: BackgroundFacts): string {
  if (status !== 'running') return status;
  return phase === 'starting' ? 'starting' : 'busy';
}
