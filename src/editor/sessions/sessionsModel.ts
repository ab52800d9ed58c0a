import type { Clock } from '../../base/clock';
import { DisposableStore, type Disposable } from '../../base/disposable';
import { Emitter } from '../../base/event';
import type {
  CapacitySnapshot,
  KernelPool,
  SessionSnapshot,
  WaiterSnapshot,
} from '../../pool/types';
import { sessionKeyOf } from './target';

/** Views follow at most this often, however fast sessions change. */
const INTERVAL_MS = 100;

/** The pool's sessions as views read them: nothing before there is a pool, and changes at a pace that eyes can follow. */
export class SessionsModel implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changed = this.store.add(new Emitter<void>());
  private readonly keys = new Map<string, string>();
  private pool: KernelPool | undefined;
  private lastTold = Number.NEGATIVE_INFINITY;
  private pending: Disposable | undefined;

  constructor(private readonly clock: Clock) {}

  readonly onDidChange = this.changed.event;

  /** Follows a pool until disposal. Called once. */
  attach(pool: KernelPool): void {
    this.pool = pool;
    this.store.add(pool.onDidChangeSessions(() => this.poolChanged()));
    this.poolChanged();
  }

  sessions(): readonly SessionSnapshot[] {
    return this.pool?.sessions() ?? [];
  }

  /** Undefined: nothing has run yet. */
  capacity(): CapacitySnapshot | undefined {
    return this.pool?.capacity();
  }

  /** Who waits for a slot to get the session of a key. */
  waiterFor(key: string): WaiterSnapshot | undefined {
    return this.capacity()?.waiting.find((waiter) => sessionKeyOf(waiter) === key);
  }

  /** A session by its snapshot id. */
  withId(id: string): SessionSnapshot | undefined {
    return this.sessions().find((session) => session.id === id);
  }

  /** The session of a key that can still be used; one that stops or is dead only where there is no other. */
  withKey(key: string): SessionSnapshot | undefined {
    const all = this.sessions().filter((session) => sessionKeyOf(session) === key);
    return all.find((session) => isUsable(session)) ?? all.at(-1);
  }

  /** The key of a session by its snapshot id, also after it is gone. */
  keyOf(id: string): string | undefined {
    return this.keys.get(id);
  }

  dispose(): void {
    this.pending?.dispose();
    this.store.dispose();
  }

  private poolChanged(): void {
    for (const session of this.sessions()) this.keys.set(session.id, sessionKeyOf(session));
    if (this.pending) return;
    // At most that, also where the system's clock was set back.
    const waitMs = Math.min(this.lastTold + INTERVAL_MS - this.clock.now(), INTERVAL_MS);
    if (waitMs <= 0) this.tell();
    else this.pending = this.clock.after(waitMs, () => this.tell());
  }

  private tell(): void {
    this.pending = undefined;
    this.lastTold = this.clock.now();
    this.changed.fire();
  }
}

export function isUsable({ state }: SessionSnapshot): boolean {
  return state.kind === 'starting' || state.kind === 'idle' || state.kind === 'busy';
}
