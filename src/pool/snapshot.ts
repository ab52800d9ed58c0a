import type { ChangeSignal } from './changeSignal';
import type { Session } from './session';
import type { SessionSnapshot, SessionStateSnapshot } from './types';

/** A session as plain data, for views. */
export function snapshotOf(session: Session): SessionSnapshot {
  const { identity, lane } = session;
  const { kernel, memoryBytes, isAboveMemoryCap, isAlive } = session.slot;
  const silence = isAlive && session.state.kind === 'live' ? kernel?.silence : undefined;
  return {
    id: session.id,
    sessionId: identity.sessionId,
    cwd: identity.cwd,
    interpreter: identity.interpreter,
    incarnation: session.incarnation,
    state: stateOf(session),
    owners: session.owners.snapshot(),
    queue: lane.queue.map((call) => call.snapshot()),
    pid: kernel?.pid,
    description: kernel?.description,
    memoryBytes,
    isAboveMemoryCap,
    startedAt: session.startedAt,
    ...(silence === undefined ? {} : { silence }),
    ...(kernel?.withheldEnvironment && { withheldEnvironment: kernel.withheldEnvironment }),
    ...(identity.privateTo === undefined ? {} : { privateTo: identity.privateTo }),
  };
}

function stateOf(session: Session): SessionStateSnapshot {
  const { state, lane } = session;
  const { stopProgress } = session.slot;
  const progress = stopProgress === undefined ? {} : { progress: stopProgress };
  switch (state.kind) {
    case 'starting':
      return state;
    case 'live': {
      const execution = lane.current?.snapshot();
      if (execution === undefined) return { kind: 'idle', since: session.turns.idleSince };
      return { kind: 'busy', since: execution.startedAt ?? state.since, execution };
    }
    case 'dead':
      return { kind: 'dead', since: state.since, summary: state.summary };
    case 'reaping':
      return { kind: 'stopping', since: state.since, attempt: 1 };
    case 'replacing':
    case 'stopping': {
      const attempt = { attempt: state.attempt.number, ...progress };
      const anew = state.kind === 'replacing' && { startsAnew: true as const };
      return { kind: 'stopping', since: state.since, ...attempt, ...anew };
    }
    case 'unconfirmed':
      return {
        kind: 'stopUnconfirmed',
        since: state.since,
        attempt: state.attempt.number,
        reason: state.reason,
        nextTryAt: state.nextTryAt,
        place: state.place,
      };
    case 'gone':
      return { kind: 'dead', since: state.since, summary: 'It is gone.' };
  }
}

/** Keeps snapshots until their session changes: what has not changed is the same object. */
export class SnapshotCache {
  private readonly known = new Map<string, SessionSnapshot>();
  private list: readonly SessionSnapshot[] = [];

  constructor(
    private readonly sessions: ReadonlyMap<string, Session>,
    private readonly changes: ChangeSignal,
  ) {}

  all(): readonly SessionSnapshot[] {
    const changed = this.changes.take();
    if (!changed) return this.list;
    for (const id of changed) this.known.delete(id);
    this.list = [...this.sessions.values()].map((session) => this.one(session));
    return this.list;
  }

  private one(session: Session): SessionSnapshot {
    const known = this.known.get(session.id);
    if (known) return known;
    const snapshot = snapshotOf(session);
    this.known.set(session.id, snapshot);
    return snapshot;
  }
}
