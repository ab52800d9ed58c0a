import type { Call, TurnEnd } from './call';
import type { Lane } from './lane';
import type { PoolSettings } from './settings';

/** Cancels what the same owner has in line behind a run that ended badly, where the settings say so. */
export function queueAfter(lane: Lane, call: Call, end: TurnEnd, settings: PoolSettings): void {
  const reason = reasonToCancel(end, settings);
  if (reason === undefined) return;
  lane.cancelQueue({ kind: 'sessionEnded', reason }, (other) => other.ownerId === call.ownerId);
}

function reasonToCancel(end: TurnEnd, settings: PoolSettings): string | undefined {
  switch (end.outcome) {
    case 'error':
      return settings.queueOnError === 'cancel' ? 'an earlier run failed.' : undefined;
    case 'interrupted':
      return settings.queueOnInterrupt === 'cancel' ? 'an earlier run was interrupted.' : undefined;
    case 'ok':
    case 'cancelled':
      return undefined;
  }
}
