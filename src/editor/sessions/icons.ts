import type { SessionSnapshot } from '../../pool/types';
import type { RowIcon } from './row';

export const notResponding: RowIcon = { name: 'debug-disconnect', color: 'charts.orange' };

/** One shape for each state, since not everybody sees colours. */
export function stateIcon({ state, silence }: Pick<SessionSnapshot, 'state' | 'silence'>): RowIcon {
  if (silence) return notResponding;
  switch (state.kind) {
    case 'starting':
      return { name: 'loading~spin' };
    case 'idle':
      return { name: 'circle-filled', color: 'testing.iconPassed' };
    case 'busy':
      return state.execution.unheeded
        ? { name: 'bell-dot', color: 'charts.orange' }
        : { name: 'sync~spin', color: 'charts.blue' };
    case 'stopping':
      return { name: 'stop-circle', color: 'charts.orange' };
    case 'stopUnconfirmed':
      return { name: 'warning', color: 'problemsWarningIcon.foreground' };
    case 'dead':
      return { name: 'error', color: 'problemsErrorIcon.foreground' };
  }
}
