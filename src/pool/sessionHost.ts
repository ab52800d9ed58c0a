import type { Clock } from '../base/clock';
import type { PooledKernel } from '../kernel/kernel';
import type { KernelOutput } from '../kernel/output';
import type { Call, TurnEnd } from './call';
import type { IncarnationNews } from './incarnationNews';
import type { OwnerWatcher } from './owners';
import type { Session } from './session';
import type { PoolSettings } from './settings';

/** What a session needs of the pool around it. */
export interface SessionHost {
  readonly clock: Clock;
  readonly settings: PoolSettings;
  readonly news: IncarnationNews;
  watchOwners(session: Session): OwnerWatcher;
  /** All that happens within belongs together: the pool looks around, and tells, once it is over. */
  batch(change: () => void): void;
  startKernel(session: Session, signal: AbortSignal): Promise<PooledKernel>;
  /** A kernel that arrived when nobody wanted it any more. */
  stopStray(kernel: PooledKernel): void;
  isFull(): boolean;
  isKeyTaken(session: Session): boolean;
  leftKey(session: Session): void;
  returnedToKey(session: Session): void;
  freedSlot(session: Session): void;
  /** Calls whose session was claimed: they acquire anew, in this order. */
  displaced(calls: readonly Call[]): void;
  /** The old kernel stays on its way out; its holders and calls want a new session. */
  movedOn(session: Session, calls: readonly Call[]): void;
  /** A reset of a session that others hold too. */
  wantsPrivate(session: Session, call: Call): void;
  /** A turn has ended, and the kernel is still there. */
  turnOver(session: Session, call: Call, end: TurnEnd): void;
  turnedIdle(session: Session): void;
  ownersChanged(session: Session): void;
  changed(session: Session): void;
  lateOutput(session: Session, executionId: string | undefined, output: KernelOutput): void;
  /** Rises with each use, for the order of eviction. */
  nextUse(): number;
}
