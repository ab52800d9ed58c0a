import type { Clock } from '../base/clock';
import { Emitter } from '../base/event';
import { HoldfastError } from '../base/errors';
import type { Log } from '../base/log';
import type { PooledKernel } from '../kernel/kernel';
import type { KernelOutput } from '../kernel/output';
import type { Call, TurnEnd } from './call';
import { ChangeSignal } from './changeSignal';
import { chooseVictim } from './eviction';
import { IncarnationNews } from './incarnationNews';
import { keyOf, type SessionIdentity } from './key';
import { MemoryWatch } from './memoryWatch';
import { OwnerIndex, type OwnerWatcher } from './owners';
import { PrivateRoutes } from './privateRoutes';
import type { SessionRecord } from './records';
import { Retention } from './retention';
import { Session } from './session';
import type { SessionHost } from './sessionHost';
import { isLeaving } from './sessionState';
import type { PoolSettings } from './settings';
import { SlotLine } from './slotLine';
import { stopKernel } from './stopAttempt';
import type { LateOutput, StartRequest } from './types';
import type { Waiter } from './waiter';

export interface CoreParts {
  readonly clock: Clock;
  readonly log: Log;
  startKernel(
    identity: SessionIdentity,
    owners: readonly string[],
    signal: AbortSignal,
    place: NonNullable<StartRequest['place']>,
  ): Promise<PooledKernel>;
  mayEvict(victim: Session, waiter: Waiter): boolean;
  isWindow(ownerId: string): boolean;
  /** Ahead of each effect on it. */
  readonly onRecord?: ((session: Session) => void) | undefined;
  readonly onGone?: ((session: Session) => void) | undefined;
}

/** The session map: who has which key, who waits for a slot, and what follows when one is free. */
export class PoolCore implements SessionHost {
  readonly clock: Clock;
  readonly log: Log;
  readonly news = new IncarnationNews();
  readonly routes = new PrivateRoutes();
  readonly changes = new ChangeSignal();
  readonly lateOutputs = new Emitter<LateOutput>();
  /** Each is counted, from its reserved start until there is evidence of its exit. */
  readonly sessions = new Map<string, Session>();
  readonly line: SlotLine;
  private readonly retention: Retention;
  private readonly memory: MemoryWatch;
  private readonly byKey = new Map<string, Session>();
  private readonly leaving = new Set<Session>();
  private readonly owners = new OwnerIndex<Session | Waiter>();
  private readonly homeless: Call[] = [];
  private depth = 0;
  private lookAgain = false;
  private uses = 0;
  private ids = 0;

  constructor(
    private readonly parts: CoreParts,
    public settings: PoolSettings,
  ) {
    this.clock = parts.clock;
    this.log = parts.log;
    const isHeldByWindow = (session: Session): boolean =>
      session.owners.someHolder((holder) => parts.isWindow(holder));
    this.line = new SlotLine({
      clock: parts.clock,
      leaving: this.leaving,
      isFull: () => this.isFull(),
      whoHoldsSlots: () => this.whoHoldsSlots(),
      watchOwners: (waiter) => this.owners.watch(waiter),
      admit: (waiter) => this.admit(waiter),
      evictFor: (waiter) => this.evictFor(waiter),
      lookAgain: () => this.batch(() => (this.lookAgain = true)),
      changed: () => this.changes.mark(),
    });
    this.retention = new Retention({
      clock: parts.clock,
      idleExpiryMs: () => this.settings.idleExpiryMs,
      isHeldByWindow,
    });
    this.memory = new MemoryWatch({
      clock: parts.clock,
      log: parts.log,
      capMb: () => this.settings.memoryCapMb,
      isHeldByWindow,
      changed: (session) => this.changed(session),
    });
  }

  // What the face asks for

  acquire(call: Call): void {
    this.batch(() => this.place(call));
  }

  placesOf(ownerId: string): readonly (Session | Waiter)[] {
    return this.owners.placesOf(ownerId);
  }

  isFull(): boolean {
    return this.sessions.size >= this.settings.capacity;
  }

  configure(settings: PoolSettings): void {
    this.batch(() => {
      this.settings = settings;
      this.lookAgain = true;
    });
    for (const session of this.sessions.values()) this.retention.restart(session);
    this.changes.mark();
  }

  batch(change: () => void): void {
    this.depth++;
    try {
      change();
      if (this.depth === 1) this.lookAround();
    } finally {
      this.depth--;
    }
  }

  /**
   * Lets go of every kernel on its way out, after a last kill where there is one. A session that has returned to its
   * key is live again: somebody may hold it.
   */
  dropDraining(): void {
    this.batch(() => {
      for (const session of [...this.leaving])
        if (!session.isAttachable) this.dropForced(session, 'recovered');
    });
  }

  dropForced(session: Session, by: 'recovered' | 'forgotten'): void {
    const { attempt } = session;
    const { kernel } = session.slot;
    if (kernel?.kill) void stopKernel(kernel, { kind: 'kill' });
    else if (kernel && !attempt) this.stopStray(kernel);
    session.dispatch({ type: 'dropped', by });
  }

  // Placing calls

  private place(call: Call): void {
    const identity = this.routes.resolve(call.identity, call.ownerId);
    const session = this.byKey.get(keyOf(identity));
    if (session) this.joinSession(session, call);
    else this.joinOrBecome(identity, call);
  }

  private joinSession(session: Session, call: Call): void {
    if (call.wantsReset && session.owners.explicitBut(call.ownerId).length > 0)
      this.goPrivate(session, call);
    else {
      session.attach(call.ownerId);
      session.turns.enqueue(call);
    }
  }

  private goPrivate(session: Session, call: Call): void {
    if (call.ownerId !== undefined) session.owners.detach(call.ownerId);
    this.ownersChanged(session);
    this.routes.add(call.identity, call.ownerId);
    this.place(call);
  }

  private joinOrBecome(identity: SessionIdentity, call: Call): void {
    const waiter = this.line.get(keyOf(identity));
    if (waiter) waiter.join(call);
    else if (this.isFull() || !this.line.isEmpty) this.waitFor(identity).join(call);
    else {
      const session = this.register(identity);
      session.attach(call.ownerId);
      session.turns.enqueue(call);
      session.begin();
    }
    this.changes.mark();
  }

  private register(identity: SessionIdentity): Session {
    let id = `session-${++this.ids}`;
    while (this.sessions.has(id)) id = `session-${++this.ids}`;
    const session = new Session(this, id, identity);
    this.sessions.set(session.id, session);
    this.byKey.set(session.key, session);
    return session;
  }

  /** A session of an earlier pool, under its own id; its begin is the caller's. */
  adopt(identity: SessionIdentity, record: SessionRecord): Session {
    const session = new Session(this, record.id, identity);
    this.sessions.set(session.id, session);
    if (record.stop === undefined) this.byKey.set(session.key, session);
    session.restore(record);
    if (record.privateTo !== undefined) {
      this.routes.add({ ...identity, privateTo: undefined }, record.privateTo);
    }
    return session;
  }

  // Looking around after a change

  private lookAround(): void {
    while (this.homeless.length > 0 || this.lookAgain) {
      const calls = this.homeless.splice(0);
      for (const call of calls) this.place(call);
      if (!this.lookAgain) continue;
      this.lookAgain = false;
      this.line.serve();
    }
  }

  private waitFor(identity: SessionIdentity): Waiter {
    this.lookAgain = true;
    return this.line.add(identity);
  }

  private whoHoldsSlots(): string {
    const holders = new Set<string>();
    for (const session of this.sessions.values()) {
      const { isHeld, holders: ids } = session.owners;
      for (const id of isHeld ? ids : ['kernels on their way out']) holders.add(id);
    }
    const held = `${this.sessions.size} of ${this.settings.capacity}`;
    return `${held} held by ${[...holders].join(', ')}`;
  }

  private admit(waiter: Waiter): void {
    const session = this.register(waiter.identity);
    this.moveIn(waiter, session);
    session.begin();
  }

  private moveIn(waiter: Waiter, session: Session): void {
    const calls = waiter.takeCalls();
    waiter.owners.moveTo(session.owners);
    waiter.owners.clear();
    for (const call of calls) session.turns.enqueue(call);
  }

  private evictFor(waiter: Waiter): void {
    const victim = chooseVictim(this.sessions.values(), (session) => {
      try {
        return this.parts.mayEvict(session, waiter);
      } catch (error) {
        this.log.error('Whether a session may be evicted is not known: it stays.', error);
        return false;
      }
    });
    victim?.claim({ kind: 'unlimited' }, 'it was evicted to free a slot', { kind: 'released' });
  }

  // SessionHost

  watchOwners(session: Session): OwnerWatcher {
    return this.owners.watch(session);
  }

  startKernel(session: Session, signal: AbortSignal): Promise<PooledKernel> {
    const { identity, owners, id, incarnation } = session;
    return this.parts.startKernel(identity, owners.holders, signal, { id, incarnation });
  }

  stopStray(kernel: PooledKernel): void {
    void stopKernel(kernel, { kind: 'unlimited' }).then((answer) => {
      if (!answer.confirmed) this.log.warn(`A stray kernel's stop: ${answer.reason}`);
    });
  }

  isKeyTaken(session: Session): boolean {
    const holder = this.byKey.get(session.key);
    return holder !== undefined && holder !== session;
  }

  leftKey(session: Session): void {
    if (this.byKey.get(session.key) === session) this.byKey.delete(session.key);
  }

  returnedToKey(session: Session): void {
    this.byKey.set(session.key, session);
    const waiter = this.line.take(session.key);
    if (!waiter) return;
    session.dispatch({ type: 'attached' });
    this.moveIn(waiter, session);
  }

  freedSlot(session: Session): void {
    this.sessions.delete(session.id);
    this.parts.onGone?.(session);
    this.retention.forget(session);
    this.memory.forget(session);
    this.lookAgain = true;
  }

  displaced(calls: readonly Call[]): void {
    this.homeless.push(...calls);
  }

  movedOn(session: Session, calls: readonly Call[]): void {
    const isFull = this.isFull();
    const [impatient, patient] = partition(calls, (call) => isFull && call.needsSlotNow);
    for (const call of impatient) call.fail(noSlot(this.settings.capacity));
    const isWanted = patient.length > 0 || !isFull;
    if (!isWanted || !session.owners.isHeld) {
      session.departAll();
      this.homeless.push(...patient);
      return;
    }
    const place = isFull ? this.waitFor(session.identity) : this.register(session.identity);
    session.owners.moveTo(place.owners);
    this.changed(session);
    for (const call of patient) (place instanceof Session ? place.turns : place).enqueue(call);
    if (place instanceof Session) place.begin();
  }

  wantsPrivate(session: Session, call: Call): void {
    this.goPrivate(session, call);
  }

  turnOver(session: Session, call: Call, { cwd }: TurnEnd): void {
    if (call.runsCode) this.memory.sample(session);
    if (cwd === undefined || cwd === (session.slot.workingDirectory ?? session.identity.cwd))
      return;
    session.slot.workingDirectory = cwd;
    const by = call.ownerId ?? session.identity.sessionId;
    const others = session.owners.holders.filter((holder) => holder !== by);
    this.news.moved(session.key, others, cwd, by);
  }

  turnedIdle(session: Session): void {
    this.memory.recycleIfDue(session);
    this.retention.restart(session);
    if (!this.line.isEmpty) this.lookAgain = true;
  }

  ownersChanged(session: Session): void {
    this.retention.restart(session);
    this.changed(session);
  }

  changed(session: Session): void {
    this.changes.mark(session.id);
    if (this.sessions.has(session.id)) this.parts.onRecord?.(session);
    const { state } = session;
    if (isLeaving(state)) this.leaving.add(session);
    else this.leaving.delete(session);
    // Each attempt that fails may be the one after which eviction goes on without it.
    if (state.kind === 'unconfirmed' && !this.line.isEmpty) this.lookAgain = true;
  }

  lateOutput(session: Session, executionId: string | undefined, output: KernelOutput): void {
    this.lateOutputs.fire({ id: session.id, executionId, output });
  }

  nextUse(): number {
    return ++this.uses;
  }
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

function noSlot(capacity: number): HoldfastError {
  return new HoldfastError(
    'pool_full',
    `The old kernel's stop is not confirmed, and all ${capacity} slots are taken. Stop or release another session, or kill the old one.`,
  );
}
