import type { Disposable } from '../base/disposable';
import { messageOf } from '../base/errors';
import { keyOf, type SessionIdentity } from './key';
import { KernelSlot, type StartKernel } from './kernelSlot';
import type { Lane } from './lane';
import type { NotRunCause } from './outcome';
import { OwnerSet } from './owners';
import type { SessionRecord } from './records';
import type { SessionHost } from './sessionHost';
import {
  isAttachable,
  transition,
  type ReplaceReason,
  type SessionEffect,
  type SessionFact,
  type SessionState,
  type StopMethod,
} from './sessionState';
import { StopAttempt, stopKernel, type AttemptAnswer } from './stopAttempt';
import { Turns } from './turns';

/** One retained kernel, counted from the reserved start to the evidence of its exit. The only writer of its state. */
export class Session {
  readonly key: string;
  readonly owners: OwnerSet;
  readonly turns: Turns;
  /** When the start of the kernel that is there, or on its way, began; ms since the epoch. */
  startedAt: number;
  state: SessionState;
  incarnation = 0;
  readonly slot: KernelSlot;
  /** In flight, or to come with the kernel of an aborted start. */
  attempt: StopAttempt | undefined;
  /** Why the state is lost, once it is about to be; for people. */
  private lossReason = '';
  private retryTimer: Disposable | undefined;

  constructor(
    private readonly host: SessionHost,
    readonly id: string,
    readonly identity: SessionIdentity,
  ) {
    this.key = keyOf(identity);
    this.owners = new OwnerSet(identity.sessionId, host.watchOwners(this));
    this.slot = new KernelSlot({
      onKernel: () => this.arrived(),
      onStartFailed: (error) => this.startFailed(error),
      onStartOverdue: (error) => this.startOverdue(error),
      onStray: (kernel) => host.stopStray(kernel),
      onExit: () => this.exitSeen(),
      onChange: () => host.changed(this),
      onLateOutput: (executionId, output) => host.lateOutput(this, executionId, output),
    });
    this.startedAt = host.clock.now();
    this.state = { kind: 'starting', since: this.startedAt };
    this.turns = new Turns(this, host);
  }

  get lane(): Lane {
    return this.turns.lane;
  }

  get isAttachable(): boolean {
    return isAttachable(this.state);
  }

  /** Nothing runs or waits, and a kernel is there to be stopped. */
  get isIdle(): boolean {
    return this.lane.isEmpty && (this.state.kind === 'live' || this.state.kind === 'dead');
  }

  /** The kernel is one that an earlier pool has used, and not there yet. */
  get isBeingFound(): boolean {
    return this.state.kind === 'starting' && this.turns.executions > 0;
  }

  /** Begins the first start. The slot is taken: the session is registered. */
  begin(start?: StartKernel): void {
    this.startKernel(start);
  }

  /** Takes up where an earlier pool had left a session, before its begin. */
  restore(record: SessionRecord): void {
    const { since } = this.state;
    this.incarnation = record.incarnation - 1;
    this.startedAt = record.startedAt ?? since;
    for (const { id, kind } of record.owners) {
      if (kind !== 'departed') this.owners.attach(kind === 'fallback' ? undefined : id);
    }
    if (!record.stop) return;
    const { claimedAt } = record.stop;
    const method: StopMethod = { kind: 'unlimited' };
    this.state = { kind: 'reaping', since, claimedAt, method };
    this.attempt = new StopAttempt();
    this.host.changed(this);
  }

  attach(ownerId: string | undefined): void {
    if (this.owners.attach(ownerId)) this.host.ownersChanged(this);
    this.turns.touch();
    if (this.state.kind === 'unconfirmed') this.dispatch({ type: 'attached' });
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
    if (this.turns.executions > 0) {
      const holders = this.owners.holders.filter((holder) => holder !== but);
      this.host.news.lost(this.key, holders, reason);
    }
    this.lossReason = reason;
    this.dispatch({ type: 'replace', why, method });
  }

  /** Stops a kernel whose run ignores its own limit; what waits goes on in a new one. Resolves after the first attempt. */
  async stopStuck(): Promise<void> {
    const method: StopMethod = { kind: 'kill' };
    this.host.batch(() => {
      this.replace(
        'stuck',
        method,
        'it was stopped, because a run passed its limit and ignored the interrupt',
      );
    });
    await this.attempt?.ended;
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
        this.letGoOfKernel();
        this.startKernel();
        return;
      case 'abortStart':
        this.attempt = new StopAttempt();
        this.slot.abortStart();
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
        if (this.turns.executions > 0) {
          this.host.news.lost(this.key, this.owners.holders, this.lossReason);
        }
        this.host.leftKey(this);
        this.host.displaced(this.lane.takeQueue());
        return;
      case 'returnToKey':
        this.host.news.retract(this.key, this.owners.known);
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

  private startKernel(begin?: StartKernel): void {
    const { host } = this;
    this.incarnation++;
    // One that is taken up has run since before.
    if (begin === undefined) this.startedAt = host.clock.now();
    this.turns.restart(begin !== undefined);
    host.changed(this);
    this.slot.start(
      begin ?? ((signal) => host.startKernel(this, signal)),
      host.clock,
      host.settings.startTimeoutMs,
    );
  }

  private arrived(): void {
    this.host.batch(() => {
      this.dispatch({ type: 'started' });
      this.turns.ready();
    });
  }

  private startFailed(error: unknown): void {
    this.host.batch(() => {
      const calls = this.lane.takeQueue();
      if (this.isBeingFound) this.lossReason = 'it could not be taken up after the reload';
      this.lane.cutOff(messageOf(error));
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
      this.lane.cutOff(error.message);
      this.departAll();
      this.claim({ kind: 'unlimited' }, 'its start took too long', { kind: 'released' });
      this.endAttempt();
    });
  }

  // Stopping

  private exitSeen(): void {
    switch (this.state.kind) {
      case 'live':
        this.host.batch(() => {
          this.turns.died(this.lane.current !== undefined);
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

  /** Evidence that came by another way than the answer of the attempt in flight. */
  exitConfirmed(): void {
    const { attempt } = this;
    this.attempt = undefined;
    this.attemptOver({ confirmed: true }, false);
    attempt?.end();
  }

  private beginAttempt(method: StopMethod): void {
    const { kernel } = this.slot;
    if (!kernel) return;
    const attempt = this.attempt ?? new StopAttempt();
    this.attempt = attempt;
    void stopKernel(kernel, method).then((answer) => {
      // The late answer of a kernel that was dropped meanwhile.
      if (this.attempt !== attempt) return;
      this.attempt = undefined;
      this.host.batch(() => this.attemptOver(answer, attempt.goneWanted));
      attempt.end();
    });
  }

  private attemptOver(answer: AttemptAnswer, goneWanted: boolean): void {
    const { state, host } = this;
    const isForDead = state.kind === 'replacing' && !this.slot.isAlive;
    if (isForDead) this.turns.timeOutCalls(answer);
    if (this.isReplacedForNobody(answer)) {
      this.lane.cutOff(this.endOfRun);
      const summary = 'The kernel is gone, and the next run starts a new one.';
      this.dispatch({ type: 'abandoned', summary, cleared: answer.confirmed });
    } else if (answer.confirmed) this.dispatch({ type: 'confirmed' });
    else {
      this.dispatch({
        type: 'unconfirmed',
        reason: answer.reason,
        dead: isForDead,
        surroundings: {
          poolFull: host.isFull(),
          keyTaken: host.isKeyTaken(this),
          takesNoCode: this.slot.kernel?.isStopping?.() === true,
          goneWanted,
          retryIntervalMs: host.settings.retryIntervalMs,
        },
      });
    }
  }

  /** Nobody waits for the kernel that would follow the one that is gone. */
  private isReplacedForNobody({ confirmed }: AttemptAnswer): boolean {
    if (this.state.kind !== 'replacing' || this.lane.queue.length > 0) return false;
    const { why } = this.state;
    return (why === 'died' && !this.slot.isAlive) || (why === 'stuck' && confirmed);
  }

  private get endOfRun(): string {
    return `The kernel was stopped: ${this.lossReason}.`;
  }

  private letGoOfKernel(): void {
    this.lane.cutOff(this.endOfRun);
    this.slot.clear();
  }

  private end(): void {
    this.letGoOfKernel();
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
