import type { CodeSource } from '../kernel/execution';
import type { SessionIdentity } from './key';
import type { Session } from './session';
import { isLeaving } from './sessionState';
import type { OwnerSnapshot, RunOrigin } from './types';

/** A run as its session's record keeps it. Times are ms since the epoch. */
export interface RunRecord {
  readonly id: string;
  readonly ownerId?: string;
  readonly origin?: RunOrigin;
  readonly queuedAt: number;
  /** When its code was sent. */
  readonly startedAt?: number;
  readonly deadlineAt?: number;
  /** Of a run that waits for its turn and that a person asked for: only that is run after a reload. */
  readonly code?: string;
  readonly source?: CodeSource;
}

/** All that a pool needs to take a session up again after its extension host has ended. Plain data. */
export interface SessionRecord {
  /** The session's snapshot id. */
  readonly id: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly interpreter?: string;
  readonly privateTo?: string;
  readonly incarnation: number;
  /** When the start of this incarnation's kernel began, ms since the epoch. */
  readonly startedAt?: number;
  readonly owners: readonly OwnerSnapshot[];
  /** It is on its way out. */
  readonly stop?: {
    readonly claimedAt: number;
    readonly attempt: number;
    readonly nextTryAt?: number;
  };
  readonly execution?: RunRecord;
  readonly queue: readonly RunRecord[];
}

export function recordOf(session: Session): SessionRecord {
  const { identity, lane } = session;
  const { interpreter, privateTo } = identity;
  const stop = stopOf(session);
  const execution = lane.current?.record(false);
  return {
    id: session.id,
    sessionId: identity.sessionId,
    cwd: identity.cwd,
    ...(interpreter === undefined ? {} : { interpreter }),
    ...(privateTo === undefined ? {} : { privateTo }),
    incarnation: session.incarnation,
    startedAt: session.startedAt,
    owners: session.owners.snapshot(),
    ...(stop === undefined ? {} : { stop }),
    ...(execution === undefined ? {} : { execution }),
    queue: lane.queue.flatMap((call) => call.record(true) ?? []),
  };
}

function stopOf({ state }: Session): SessionRecord['stop'] {
  if (!isLeaving(state)) return undefined;
  const { claimedAt } = state;
  if (state.kind === 'reaping') return { claimedAt, attempt: 0 };
  const attempt = state.attempt.number;
  return state.kind === 'unconfirmed'
    ? { claimedAt, attempt, nextTryAt: state.nextTryAt }
    : { claimedAt, attempt };
}

export function identityOfRecord(record: SessionRecord): SessionIdentity {
  const { sessionId, cwd, interpreter, privateTo } = record;
  return { sessionId, cwd, interpreter, privateTo };
}
