import { HoldfastError } from '../base/errors';
import type { Call, TurnEnd } from './call';
import { describeDeath } from './death';
import { Lane } from './lane';
import { queueAfter } from './queuePolicy';
import type { Session } from './session';
import type { SessionHost } from './sessionHost';
import type { StopMethod } from './sessionState';
import type { AttemptAnswer } from './stopAttempt';

/** A kernel that is dead on arrival is replaced; of so many in a row the cause is another, and more starts don't help. */
const STILLBORN_IN_A_ROW = 2;

/** What a session runs: whose turn it is, and what has to happen to the kernel before the next one. */
export class Turns {
  readonly lane: Lane;
  /** Runs of this incarnation so far. Of a kernel that an earlier pool has used at least one. */
  executions = 0;
  /** In the order of uses over the whole pool. */
  lastUse: number;
  /** Since when nothing runs, in ms since the epoch. */
  idleSince: number;
  /** Whose deadline limits the stop of a dead kernel. */
  private limitedBy: Call | undefined;
  /** Kernels in a row that were dead on arrival. */
  private stillborn = 0;

  constructor(
    private readonly session: Session,
    private readonly host: SessionHost,
  ) {
    this.lane = new Lane({
      onChange: () => host.changed(session),
      onLateOutput: (executionId, output) => host.lateOutput(session, executionId, output),
      stopKernel: () => session.stopStuck(),
      onTurnOver: (call, end) => this.turnOver(call, end),
    });
    this.lastUse = host.nextUse();
    this.idleSince = host.clock.now();
  }

  /** A kernel is on its way: a new one, or one that an earlier pool has used. */
  restart(isUsed: boolean): void {
    this.executions = isUsed ? 1 : 0;
  }

  /** The kernel is there: whoever waits for it goes first. */
  ready(): void {
    this.idleSince = this.host.clock.now();
    const { kernel } = this.session.slot;
    // Also of one that has died on its way here: it may know how the run ended.
    if (kernel) this.lane.goOn(kernel, (call) => this.newsFor(call));
    if (this.session.slot.isAlive) {
      this.stillborn = 0;
      for (const call of this.lane.takeQueue(({ needsTurn }) => !needsTurn)) call.ready();
    } else if (++this.stillborn === STILLBORN_IN_A_ROW) this.giveUp();
    this.pump();
    if (this.session.isIdle) this.host.turnedIdle(this.session);
  }

  /** Fails whoever waits. The next call tries again. */
  private giveUp(): void {
    const { kernel } = this.session.slot;
    if (!kernel) return;
    this.stillborn = 0;
    const summary = describeDeath(kernel);
    const text = `${summary} It was dead as soon as it had started, and so was the one before. Check the interpreter.`;
    const error = new HoldfastError('kernel_died', text);
    for (const call of this.lane.takeQueue()) call.fail(error);
    this.session.dispatch({ type: 'died', summary });
  }

  touch(): void {
    this.lastUse = this.host.nextUse();
  }

  enqueue(call: Call): void {
    // Nobody may have told of the death, and a run whose kernel is gone may never settle.
    if (this.lane.current && this.session.state.kind === 'live' && !this.session.slot.isAlive)
      this.died(true);
    if (!call.needsTurn && this.session.state.kind === 'live' && this.session.slot.isAlive) {
      call.ready();
      if (this.session.isIdle) this.host.turnedIdle(this.session);
      return;
    }
    call.freshFrom = this.isFreshForNext ? this.session.incarnation : this.session.incarnation + 1;
    this.lane.push(call);
    this.pump();
    this.host.changed(this.session);
  }

  private get isFreshForNext(): boolean {
    if (this.session.state.kind === 'starting') return !this.session.isBeingFound;
    return this.session.state.kind === 'live' && this.executions === 0 && this.lane.isEmpty;
  }

  /** Gives the first in line its turn, if a kernel is there for it; else sees to it that there is one. */
  pump(): void {
    const head = this.lane.queue[0];
    if (this.lane.current || !head) return;
    if (this.session.state.kind === 'live') {
      if (!this.session.slot.isAlive) this.died(false);
      else if (head.wantsReset && this.session.incarnation < (head.freshFrom ?? 0))
        this.reset(head);
      else this.beginTurn();
    } else if (this.session.state.kind === 'dead')
      this.replaceDead(head, this.session.state.summary);
  }

  private beginTurn(): void {
    const { kernel } = this.session.slot;
    if (!kernel) return;
    this.lastUse = this.host.nextUse();
    this.lane.begin(kernel, (call) => this.newsFor(call));
    this.host.changed(this.session);
  }

  private newsFor(call: Call): readonly string[] {
    if (!call.runsCode) return [];
    this.executions++;
    return this.host.news.take(this.session.key, call.ownerId ?? this.session.identity.sessionId);
  }

  private turnOver(call: Call, end: TurnEnd): void {
    this.idleSince = this.host.clock.now();
    this.host.batch(() => {
      if (this.session.state.kind === 'live' && !this.session.slot.isAlive) {
        this.died(end.outcome === 'cancelled' || end.outcome === 'interrupted');
      } else queueAfter(this.lane, call, end, this.host.settings);
      this.host.changed(this.session);
      if (this.session.state.kind === 'live') this.host.turnOver(this.session, call, end);
      this.pump();
      if (this.session.isIdle) this.host.turnedIdle(this.session);
    });
  }

  /** The process has ended by itself. Under a run, that takes the queue with it. */
  died(underRun: boolean): void {
    const { kernel } = this.session.slot;
    if (!kernel) return;
    const summary = describeDeath(kernel);
    if (underRun) {
      this.lane.cutOff(summary);
      this.lane.cancelQueue({ kind: 'sessionEnded', reason: summary });
    }
    this.session.dispatch({ type: 'died', summary });
    this.pump();
  }

  private reset(call: Call): void {
    const others = this.session.owners.explicitBut(call.ownerId);
    if (others.length > 0) {
      this.lane.remove(call);
      this.host.wantsPrivate(this.session, call);
      this.pump();
      return;
    }
    const by = call.ownerId ?? 'a call without an owner';
    this.session.replace('reset', { kind: 'unlimited' }, `it was reset by ${by}`, call.ownerId);
  }

  /** The time that the caller has left limits the stop of the old kernel. */
  private replaceDead(call: Call, summary: string): void {
    const { deadlineAt } = call;
    this.limitedBy = deadlineAt === undefined ? undefined : call;
    const method: StopMethod =
      deadlineAt === undefined
        ? { kind: 'unlimited' }
        : { kind: 'limited', timeoutMs: Math.max(1, deadlineAt - this.host.clock.now()) };
    this.session.replace('died', method, summary);
  }

  /** The stop of a dead kernel ended: whoever's time is over does not start another. */
  timeOutCalls(answer: AttemptAnswer): void {
    const now = this.host.clock.now();
    const limitPassed = !answer.confirmed && answer.limitPassed;
    const isOver = (call: Call): boolean =>
      (call.deadlineAt !== undefined && call.deadlineAt <= now) ||
      (limitPassed && call === this.limitedBy);
    for (const call of this.lane.takeQueue(isOver)) call.timeOut();
    this.limitedBy = undefined;
  }
}
