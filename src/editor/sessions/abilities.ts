import type { SessionSnapshot } from '../../pool/types';

export type Ability =
  | 'running'
  | 'restartable'
  | 'stoppable'
  | 'killable'
  /** It is going already: the kill is the last resort. */
  | 'forceKillable'
  | 'retryable'
  | 'forgettable';

/** What a person can do to a session: the words that menus look for, and that menus of our own are made of. */
export function abilitiesOf({ state }: Pick<SessionSnapshot, 'state'>): readonly Ability[] {
  switch (state.kind) {
    case 'starting':
      return ['stoppable', 'killable'];
    case 'idle':
      return ['restartable', 'stoppable', 'killable'];
    case 'busy':
      return ['running', 'restartable', 'stoppable', 'killable'];
    case 'stopping':
      return state.startsAnew ? ['forceKillable'] : ['forceKillable', 'forgettable'];
    case 'stopUnconfirmed':
      return ['retryable', 'forceKillable', 'forgettable'];
    case 'dead':
      return ['restartable', 'stoppable'];
  }
}
