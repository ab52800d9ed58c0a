import type { Clock } from '../base/clock';
import { DisposableStore, type Disposable } from '../base/disposable';
import type { Log } from '../base/log';
import type { PooledKernel, StopProgress } from '../kernel/kernel';
import type { KernelOutput } from '../kernel/output';
import type { Call, TurnEnd } from './call';
import { describeDeath } from './death';
import type { IncarnationNews } from './incarnationNews';
import { keyOf, type SessionIdentity } from './key';
import { KernelStart } from './kernelStart';
import { Lane } from './lane';
import type { NotRunCause } from './outcome';
import { OwnerSet, type OwnerWatcher } from './owners';
import type { SessionRecord } from './records';
import { queueAfter } from './queuePolicy';
import {
  isAttachable,
  transition,
  type ReplaceReason,
  type SessionEffect,
  type SessionFact,
  type SessionState,
  type StopMethod,
} from './sessionState';
import type { PoolSettings } from './settings';
import { StopAttempt, stopKernel, type AttemptAnswer } from './stopAttempt';

/** What a session needs of the pool around it. */
export interface SessionHost {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: PoolSettings;
  readonly news: IncarnationNews;
  watchOwners(session: Session): OwnerWatcher;
  /** All that happens within belongs together: the pool looks around, and tells, once it is over. */
  batch(change: () => void): void;
  startKernel(identity: SessionIdentity, signal: AbortSignal): Promise<PooledKernel>;
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

/** One retained kernel, counted from the reserved start to the evidence of its exit. The only writer of its state. */
export class Session {
  readonly key: string;
  readonly owners: OwnerSet;
  readonly lane: Lane;
  readonly startedAt: number;
  state: SessionState;
  incarnation = 0;
  /** Runs of this incarnation so far. */
  executions = 0;
  lastUse: number;
  kernel: PooledKernel | undefined;
  stopProgress: StopProgress | undefined;
  memoryBytes: number | undefined;
  isAboveMemoryCap = false;
  /** Where its code has gone, as far as the kernel tells. */
  workingDirectory: string;
  /** Since when nothing runs, in ms since the epoch. */
  idleSince: number;
  /** In flight, or to come with the kernel of an aborted start. */
  attempt: StopAttempt | undefined;
  /** Why the state is lost, once it is about to be; for people. */
  private lossReason = '';
  /** Whose deadline limits the stop of a dead kernel. */
  private limitedBy: Call | undefined;
  private start: KernelStart | undefined;
  private retryTimer: Disposable | undefined;
  private listeners = new DisposableStore();

  constructor(
    private readonly host: SessionHost,
    readonly id: string,
    readonly identity: SessionIdentity,
  ) {
    this.key = keyOf(identity);
    this.owners = new OwnerSet(identity.sessionId, host.watchOwners(this));
    this.lane = new Lane({
      onChange: () => host.changed(this),
      onLateOutput: (executionId, output) => host.lateOutput(this, executionId, output),
      onTurnOver: (call, end) => this.turnOver(call, end),
    });
    this.startedAt = host.clock.now();
    this.idleSince = this.startedAt;
    this.workingDirectory = identity.cwd;
    this.state = { kind: 'starting', since: this.startedAt };
    this.lastUse = host.nextUse();
  }

  get isAttachable(): boolean {
    return isAttachable(this.state);
  }

  /** Nothing runs or waits, and a kernel is there to be stopped. */
  get isIdle(): boolean {
    return this.lane.isEmpty && (this.state.kind === 'live' || this.state.kind === 'dead');
  }

  /** Begins the first start. The slot is taken: the session is registered. */
  begin(start?: (signal: AbortSignal) => Promise<PooledKernel>): void {
    this.startKernel(start);
  }

  /** Takes up where an earlier pool had left a session, before its begin. */
  restore(record: SessionRecord): void {
    this.incarnation = record.incarnation - 1;
    for (const { id, kind } of record.owners) {
      if (kind !== 'departed') this.owners.attach(kind === 'fallback' ? undefined : id);
    }
    if (!record.stop) return;
    const { claimedAt } = record.stop;
    const method: StopMethod = { kind: 'unlimited' };
    this.state = { kind: 'reaping', since: this.startedAt, claimedAt, method };
    this.attempt = new StopAttempt();
    this.host.changed(this);
  }

  attach(ownerId: string | undefined): void {
    if (this.owners.attach(ownerId)) this.host.ownersChanged(this);
    this.lastUse = this.host.nextUse();
    if (this.state.kind === 'unconfirmed') this.dispatch({ type: 'attached' });
  }

  enqueue(call: Call): void {
    call.freshFrom = this.isFreshForNext ? this.incarnation : this.incarnation + 1;
    this.lane.push(call);
    this.pump();
    this.host.changed(this);
  }

  /** Detaches an owner; of the last one the session is claimed. Answers the attempt that its clean-up waits for. */
  releaseOwner(ownerId: string): StopAttempt | undefined {
    switch (this.owners.release(ownerId)) {
      case 'absent':
        return undefined;
      case 'detached':
        this.host.ownersChanged(this);
        return undefined;
      case 'last':
      case 'departed':
        this.host.changed(this);
        this.claim(
          { kind: 'limited', timeoutMs: this.host.settings.ownerCleanupMs },
          'its last owner let go',
          { kind: 'released' },
        );
        return this.attempt;
    }
  }

  /** Everybody lets go at once. */
  departAll(): void {
    this.owners.departAll();
    this.host.changed(this);
  }

  /**
   * Takes the session off its key and asks the kernel to go; where that is going on already, joins it. Calls that wait
   * for a start end with `startCause`; calls in line acquire anew.
   */
  claim(method: StopMethod, why: string, startCause: NotRunCause): void {
    this.host.batch(() => {
      this.lossReason = why;
      const isComing = this.state.kind === 'starting' || this.state.kind === 'replacing';
      if (isComing) this.lane.cancelQueue(startCause);
      this.dispatch({ type: 'claim', method });
    });
  }

  /** Stops the kernel and starts another in this session. `but`: the owner that need not be told. */
  replace(why: ReplaceReason, method: StopMethod, reason: string, but?: string): void {
    if (this.executions > 0) {
      const holders = this.owners.holders.filter((holder) => holder !== but);
      this.host.news.lost(this.key, holders, reason);
    }
    this.lossReason = reason;
    this.dispatch({ type: 'replace', why, method });
  }

  dispatch(fact: SessionFact): void {
    const before = this.state;
    const { state, effects } = transition(before, fact, this.host.clock.now());
    if (state === before) return;
    this.host.batch(() => {
      this.state = state;
      // Ahead of the effects, for the record; and after them, for what they have changed.
      this.host.changed(this);
      for (const effect of effects) this.perform(effect);
      this.host.changed(this);
    });
  }

  private perform(effect: SessionEffect): void {
    switch (effect.type) {
      case 'start':
        this.startKernel();
        return;
      case 'abortStart':
        this.attempt = new StopAttempt();
        this.start?.abort();
        return;
      case 'shutdown':
        this.beginAttempt(effect.attempt.method);
        return;
      case 'armRetry':
        this.retryTimer = this.host.clock.after(effect.afterMs, () =>
          this.dispatch({ type: 'retryDue' }),
        );
        return;
      case 'disarmRetry':
        this.retryTimer?.dispose();
        return;
      case 'leaveKey':
        if (this.executions > 0) {
          this.host.news.lost(this.key, this.owners.holders, this.lossReason);
        }
        this.host.leftKey(this);
        this.host.displaced(this.lane.takeQueue());
        return;
      case 'returnToKey':
        this.host.news.retract(this.key, this.owners.holders);
        this.host.returnedToKey(this);
        return;
      case 'moveOn':
        this.host.movedOn(this, this.lane.takeQueue());
        return;
      case 'freeSlot':
        this.end();
        return;
    }
  }

  // Starting

  private startKernel(
    begin = (signal: AbortSignal) => this.host.startKernel(this.identity, signal),
  ): void {
    this.letGoOfKernel();
    this.incarnation++;
    this.executions = 0;
    const { host } = this;
    host.changed(this);
    const start: KernelStart = new KernelStart(
      begin,
      { clock: host.clock, timeoutMs: host.settings.startTimeoutMs },
      {
        onKernel: (kernel) =>
          this.start === start ? this.arrived(kernel) : host.stopStray(kernel),
        onFailed: (error) => this.start === start && this.startFailed(error),
        onOverdue: (error) => this.start === start && this.startOverdue(error),
      },
    );
    this.start = start;
  }

  private arrived(kernel: PooledKernel): void {
    this.start = undefined;
    this.kernel = kernel;
    this.listenTo(kernel);
    this.host.batch(() => {
      this.idleSince = this.host.clock.now();
      this.dispatch({ type: 'started' });
      this.pump();
      if (this.isIdle) this.host.turnedIdle(this);
    });
  }

  private listenTo(kernel: PooledKernel): void {
    const { host } = this;
    const subscriptions = [
      kernel.onDidExit?.(() => this.exitSeen()),
      kernel.onDidStopStep?.((progress) => {
        this.stopProgress = progress;
        host.changed(this);
      }),
      kernel.onDidLateOutput?.(({ executionId, output }) =>
        host.lateOutput(this, executionId, output),
      ),
    ];
    for (const subscription of subscriptions) if (subscription) this.listeners.add(subscription);
  }

  private startFailed(error: unknown): void {
    this.start = undefined;
    this.host.batch(() => {
      const calls = this.lane.takeQueue();
      this.dispatch({ type: 'startFailed' });
      for (const call of calls) call.fail(error);
    });
  }

  private startOverdue(error: Error): void {
    if (this.state.kind !== 'starting') {
      // It does not heed its abort: nobody waits for it any longer, but it keeps its slot.
      this.endAttempt();
      return;
    }
    this.host.batch(() => {
      for (const call of this.lane.takeQueue()) call.fail(error);
      this.departAll();
      this.claim({ kind: 'unlimited' }, 'its start took too long', { kind: 'released' });
      this.endAttempt();
    });
  }

  // Running

  private get isFreshForNext(): boolean {
    if (this.state.kind === 'starting') return true;
    return this.state.kind === 'live' && this.executions === 0 && this.lane.isEmpty;
  }

  /** Gives the first in line its turn, if a kernel is there for it; else sees to it that there is one. */
  pump(): void {
    const head = this.lane.queue[0];
    if (this.lane.current || !head) return;
    if (this.state.kind === 'live') {
      if (this.kernel?.isAlive() !== true) this.died(false);
      else if (head.wantsReset && this.incarnation < (head.freshFrom ?? 0)) this.reset(head);
      else this.beginTurn(this.kernel);
    } else if (this.state.kind === 'dead') this.replaceDead(head, this.state.summary);
  }

  private beginTurn(kernel: PooledKernel): void {
    this.lastUse = this.host.nextUse();
    this.lane.begin(kernel, (call) => this.newsFor(call));
    this.host.changed(this);
  }

  private newsFor(call: Call): readonly string[] {
    if (!call.runsCode) return [];
    this.executions++;
    return this.host.news.take(this.key, call.ownerId ?? this.identity.sessionId);
  }

  private turnOver(call: Call, end: TurnEnd): void {
    this.lastUse = this.host.nextUse();
    this.idleSince = this.host.clock.now();
    this.host.batch(() => {
      if (this.state.kind === 'live' && this.kernel?.isAlive() !== true) {
        this.died(end.outcome === 'cancelled' || end.outcome === 'interrupted');
      } else queueAfter(this.lane, call, end, this.host.settings);
      this.host.changed(this);
      if (this.state.kind === 'live') this.host.turnOver(this, call, end);
      this.pump();
      if (this.isIdle) this.host.turnedIdle(this);
    });
  }

  /** The process has ended by itself. Under a run, that takes the queue with it. */
  private died(underRun: boolean): void {
    if (!this.kernel) return;
    const summary = describeDeath(this.kernel);
    if (underRun) {
      this.lane.cutOff(summary);
      this.lane.cancelQueue({ kind: 'sessionEnded', reason: summary });
    }
    this.dispatch({ type: 'died', summary });
    this.pump();
  }

  private exitSeen(): void {
    switch (this.state.kind) {
      case 'live':
        this.host.batch(() => {
          this.died(this.lane.current !== undefined);
          if (this.isIdle) this.host.turnedIdle(this);
        });
        return;
      case 'unconfirmed':
        this.dispatch({ type: 'exited' });
        return;
      case 'starting':
      case 'dead':
      case 'replacing':
      case 'reaping':
      case 'stopping':
      case 'gone':
        // An attempt in flight gives its own answer, which also tells of survivors.
        return;
    }
  }

  private reset(call: Call): void {
    const others = this.owners.explicitBut(call.ownerId);
    if (others.length > 0) {
      this.lane.remove(call);
      this.host.wantsPrivate(this, call);
      this.pump();
      return;
    }
    const by = call.ownerId ?? 'a call without an owner';
    this.replace('reset', { kind: 'unlimited' }, `it was reset by ${by}`, call.ownerId);
  }

  /** The time that the caller has left limits the stop of the old kernel. */
  private replaceDead(call: Call, summary: string): void {
    const { deadlineAt } = call;
    this.limitedBy = deadlineAt === undefined ? undefined : call;
    const method: StopMethod =
      deadlineAt === undefined
        ? { kind: 'unlimited' }
        : { kind: 'limited', timeoutMs: Math.max(1, deadlineAt - this.host.clock.now()) };
    this.replace('died', method, summary);
  }

  // Stopping

  /** Evidence that came by another way than the answer of the attempt in flight. */
  exitConfirmed(): void {
    const { attempt } = this;
    this.attempt = undefined;
    this.attemptOver({ confirmed: true }, false);
    attempt?.end();
  }

  private beginAttempt(method: StopMethod): void {
    if (!this.kernel) return;
    const attempt = this.attempt ?? new StopAttempt();
    this.attempt = attempt;
    void stopKernel(this.kernel, method).then((answer) => {
      // The late answer of a kernel that was dropped meanwhile.
      if (this.attempt !== attempt) return;
      this.attempt = undefined;
      this.host.batch(() => this.attemptOver(answer, attempt.goneWanted));
      attempt.end();
    });
  }

  private attemptOver(answer: AttemptAnswer, goneWanted: boolean): void {
    const { state, host } = this;
    const isForDead = state.kind === 'replacing' && this.kernel?.isAlive() !== true;
    if (isForDead) this.timeOutCalls(answer);
    if (isForDead && state.why === 'died' && this.lane.queue.length === 0) {
      this.dispatch({ type: 'abandoned', cleared: answer.confirmed });
    } else if (answer.confirmed) this.dispatch({ type: 'confirmed' });
    else {
      this.dispatch({
        type: 'unconfirmed',
        reason: answer.reason,
        dead: isForDead,
        surroundings: {
          poolFull: host.isFull(),
          keyTaken: host.isKeyTaken(this),
          takesNoCode: this.kernel?.isStopping?.() === true,
          goneWanted,
          retryIntervalMs: host.settings.retryIntervalMs,
        },
      });
    }
  }

  /** The stop of a dead kernel ended: whoever's time is over does not start another. */
  private timeOutCalls(answer: AttemptAnswer): void {
    const now = this.host.clock.now();
    const limitPassed = !answer.confirmed && answer.limitPassed;
    const isOver = (call: Call): boolean =>
      (call.deadlineAt !== undefined && call.deadlineAt <= now) ||
      (limitPassed && call === this.limitedBy);
    for (const call of this.lane.takeQueue(isOver)) call.timeOut();
    this.limitedBy = undefined;
  }

  private letGoOfKernel(): void {
    this.listeners.dispose();
    this.listeners = new DisposableStore();
    this.lane.cutOff(`The kernel was stopped: ${this.lossReason}.`);
    this.kernel = undefined;
    this.stopProgress = undefined;
    this.memoryBytes = undefined;
    this.isAboveMemoryCap = false;
    this.workingDirectory = this.identity.cwd;
  }

  private end(): void {
    this.letGoOfKernel();
    this.start = undefined;
    this.retryTimer?.dispose();
    this.lane.cancelQueue({ kind: 'sessionEnded', reason: `${this.lossReason}.` });
    this.owners.clear();
    this.host.freedSlot(this);
    this.endAttempt();
  }

  private endAttempt(): void {
    const { attempt } = this;
    this.attempt = undefined;
    attempt?.end();
  }
}
