import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposable';
import type { SessionIdentity } from './key';
import type { OwnerWatcher } from './owners';
import { blocksEviction, UNBLOCK_AFTER_MS } from './retryPolicy';
import type { Session } from './session';
import { isLeaving } from './sessionState';
import { Waiter } from './waiter';

interface SlotLineParts {
  readonly clock: Clock;
  /** Kernels that are wanted gone and not known to be. */
  readonly leaving: ReadonlySet<Session>;
  isFull(): boolean;
  /** For people: "4 of 4 are held by …". */
  whoHoldsSlots(): string;
  watchOwners(waiter: Waiter): OwnerWatcher;
  /** A slot is free: the waiter becomes a session. */
  admit(waiter: Waiter): void;
  /** Everything is counted and nothing is leaving: a slot has to be made. */
  evictFor(waiter: Waiter): void;
  /** Time alone has changed something. */
  lookAgain(): void;
  changed(): void;
}

/** Who waits for a slot, in the order of arrival, one place per key. It holds no lock: live sessions go on being used. */
export class SlotLine {
  private readonly places = new Map<string, Waiter>();
  private unblockTimer: Disposable | undefined;

  constructor(private readonly parts: SlotLineParts) {}

  get isEmpty(): boolean {
    return this.places.size === 0;
  }

  get waiters(): readonly Waiter[] {
    return [...this.places.values()];
  }

  get(key: string): Waiter | undefined {
    return this.places.get(key);
  }

  add(identity: SessionIdentity): Waiter {
    const { clock, watchOwners, whoHoldsSlots } = this.parts;
    const onEmpty = ({ key }: Waiter): void => this.remove(key);
    const waiter = new Waiter(identity, clock.now(), watchOwners, onEmpty, whoHoldsSlots);
    this.places.set(waiter.key, waiter);
    this.parts.changed();
    return waiter;
  }

  take(key: string): Waiter | undefined {
    const waiter = this.places.get(key);
    if (waiter) this.remove(key);
    return waiter;
  }

  /** Gives out what is free, and where nothing is, sees to it that something will be. */
  serve(): void {
    const { isFull, admit, leaving, evictFor } = this.parts;
    this.unblockTimer?.dispose();
    for (const waiter of this.waiters) {
      if (isFull()) break;
      this.remove(waiter.key);
      admit(waiter);
    }
    const [first] = this.waiters;
    if (!first) return;
    for (const session of leaving) session.dispatch({ type: 'pressure' });
    const unblockedAt = this.unblockedAt();
    if (unblockedAt === undefined) evictFor(first);
    else this.lookAgainAt(unblockedAt);
  }

  /** When the first kernel that holds back eviction does so no more; undefined: none does. */
  private unblockedAt(): number | undefined {
    const now = this.parts.clock.now();
    let earliest: number | undefined;
    for (const { state } of this.parts.leaving) {
      if (!isLeaving(state) || !blocksEviction(state, now)) continue;
      const at = state.claimedAt + UNBLOCK_AFTER_MS;
      earliest = earliest === undefined ? at : Math.min(earliest, at);
    }
    return earliest;
  }

  private lookAgainAt(at: number): void {
    const { clock, lookAgain } = this.parts;
    this.unblockTimer = clock.after(at - clock.now(), lookAgain);
  }

  private remove(key: string): void {
    this.places.delete(key);
    this.parts.changed();
  }
}
