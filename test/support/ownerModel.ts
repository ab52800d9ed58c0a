import type {
  KernelPool,
  OwnerSnapshot,
  SessionSnapshot,
  WaiterSnapshot,
} from '../../src/pool/types';

const START_LIMIT_MS = 60_000;

type Check = (holds: boolean, promise: string) => void;

/** Who holds one place, by the rules in their plainest form. */
class Holders {
  readonly explicit = new Set<string>();
  readonly departed = new Set<string>();
  hasFallback = false;

  attach(owner: string | undefined): void {
    this.departed.clear();
    if (owner !== undefined) {
      this.explicit.add(owner);
      this.hasFallback = false;
    } else if (this.explicit.size === 0) this.hasFallback = true;
  }

  /** Answers whether nobody holds any more because of it. */
  dispose(owner: string, fallbackId: string): boolean {
    const was = this.isHeld;
    if (this.explicit.delete(owner) && this.explicit.size === 0) this.departed.add(owner);
    if (this.hasFallback && owner === fallbackId) {
      this.hasFallback = false;
      this.departed.add(owner);
    }
    return was && !this.isHeld;
  }

  disposeAll(fallbackId: string): void {
    for (const owner of this.explicit) this.departed.add(owner);
    if (this.hasFallback) this.departed.add(fallbackId);
    this.explicit.clear();
    this.hasFallback = false;
  }

  takeFrom(other: Holders): void {
    if (other.hasFallback) this.attach(undefined);
    for (const owner of other.explicit) this.attach(owner);
  }

  get isHeld(): boolean {
    return this.hasFallback || this.explicit.size > 0;
  }

  toString(): string {
    const names = [
      ...(this.hasFallback ? ['fallback'] : []),
      ...[...this.explicit].map((id) => `+${id}`),
      ...[...this.departed].map((id) => `-${id}`),
    ];
    return names.sort().join(' ');
  }
}

/** Keeps its own books on owners beside the pool's, and compares. */
export class OwnerModel {
  private readonly sessions = new Map<string, Holders>();
  private readonly waiters = new Map<string, Holders>();
  private starting = new Set<string>();

  /** A call for a key was made; `pool` shows where it went, and `before` what it may have joined only to be evicted. */
  attached(
    key: string,
    owner: string | undefined,
    pool: KernelPool,
    before: readonly SessionSnapshot[] = [],
  ): void {
    const session = [...pool.sessions(), ...before].find(
      (shown) => shown.sessionId === key && isAttachable(shown),
    );
    const known = session && this.sessions.get(session.id);
    const holders = known ?? this.waiters.get(key) ?? new Holders();
    holders.attach(owner);
    if (session) {
      this.sessions.set(session.id, holders);
      this.waiters.delete(key);
    } else this.waiters.set(key, holders);
  }

  /** `before`: the sessions as they were shown; what was in line behind a run acquires anew. */
  disposed(owner: string, before: readonly SessionSnapshot[], pool: KernelPool): void {
    const claimed = before.filter(({ id, sessionId }) =>
      this.sessions.get(id)?.dispose(owner, sessionId),
    );
    for (const [key, holders] of [...this.waiters]) {
      if (holders.dispose(owner, key)) this.waiters.delete(key);
    }
    this.displaced(claimed, pool);
  }

  disposedAll(before: readonly SessionSnapshot[], pool: KernelPool): void {
    for (const { id, sessionId } of before) this.sessions.get(id)?.disposeAll(sessionId);
    this.displaced(before, pool);
  }

  observe(
    shown: readonly SessionSnapshot[],
    waiting: readonly WaiterSnapshot[],
    now: number,
    check: Check,
  ): void {
    this.reconcile(shown, waiting, now);
    for (const { id, owners, sessionId } of shown) {
      const expected = this.sessions.get(id)?.toString();
      check(expected === text(owners), `owners of ${sessionId}: ${text(owners)}, not ${expected}`);
    }
    for (const { sessionId, owners } of waiting) {
      const expected = this.waiters.get(sessionId)?.toString();
      check(expected === text(owners), `waiter ${sessionId}: ${text(owners)}, not ${expected}`);
    }
    check(
      this.waiters.size === waiting.length,
      `${[...this.waiters.keys()].join()} should wait for a slot`,
    );
  }

  private displaced(claimed: readonly SessionSnapshot[], pool: KernelPool): void {
    for (const { state, sessionId, queue } of claimed) {
      if (state.kind !== 'busy') continue;
      for (const { ownerId } of queue) this.attached(sessionId, ownerId, pool);
    }
  }

  /** The stop of a kernel that was to be replaced is not confirmed: its owners go on in a place of their own, if there is one. */
  private moveOn(shown: readonly SessionSnapshot[], waiting: readonly WaiterSnapshot[]): void {
    for (const old of shown.filter(leftForGood)) {
      const { sessionId } = old;
      const holders = this.sessions.get(old.id);
      if (!holders?.isHeld) continue;
      const fresh = new Holders();
      fresh.takeFrom(holders);
      const next = shown.find((one) => one.sessionId === sessionId && isAttachable(one));
      if (next) this.sessions.set(next.id, fresh);
      else if (waiting.some((one) => one.sessionId === sessionId))
        this.waiters.set(sessionId, fresh);
      holders.disposeAll(sessionId);
    }
  }

  /** What follows from answers and from time: places that were admitted, joined, or given up. */
  private reconcile(
    shown: readonly SessionSnapshot[],
    waiting: readonly WaiterSnapshot[],
    now: number,
  ): void {
    this.moveOn(shown, waiting);
    const stillWaits = new Set(waiting.map(({ sessionId }) => sessionId));
    for (const [key, holders] of [...this.waiters]) {
      if (stillWaits.has(key)) continue;
      this.waiters.delete(key);
      const session = shown.find((one) => one.sessionId === key && isAttachable(one));
      if (!session) continue;
      const known = this.sessions.get(session.id);
      if (known) {
        known.departed.clear();
        known.takeFrom(holders);
      } else this.sessions.set(session.id, holders);
    }
    for (const { id, sessionId, state, startedAt } of shown) {
      const isOverdue =
        this.starting.has(id) && state.kind === 'stopping' && now - startedAt >= START_LIMIT_MS;
      if (isOverdue) this.sessions.get(id)?.disposeAll(sessionId);
    }
    this.starting = new Set(
      shown.filter(({ state }) => state.kind === 'starting').map(({ id }) => id),
    );
    const ids = new Set(shown.map(({ id }) => id));
    for (const id of [...this.sessions.keys()]) if (!ids.has(id)) this.sessions.delete(id);
  }
}

function leftForGood({ state }: SessionSnapshot): boolean {
  return state.kind === 'stopUnconfirmed' && state.place === 'ownName';
}

function isAttachable({ state, queue }: SessionSnapshot): boolean {
  switch (state.kind) {
    case 'starting':
    case 'idle':
    case 'busy':
    case 'dead':
      return true;
    case 'stopUnconfirmed':
      return state.place === 'key';
    case 'stopping':
      // A kernel that is being replaced is shown so as well; its calls wait with it.
      return queue.length > 0;
  }
}

function text(owners: readonly OwnerSnapshot[]): string {
  const sign = { explicit: '+', departed: '-', fallback: '' };
  return owners
    .map(({ id, kind }) => (kind === 'fallback' ? 'fallback' : `${sign[kind]}${id}`))
    .sort()
    .join(' ');
}
