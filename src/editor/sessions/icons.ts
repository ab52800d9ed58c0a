import type { SessionStateSnapshot } from '../../pool/types';
import type { RowIcon } from './row';

/** One shape for each state, since not everybody sees colours. */
export function stateIcon(state: SessionStateSnapshot): RowIcon {
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
