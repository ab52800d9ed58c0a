import type { Clock } from '../base/clock';
import { deferred } from '../base/deferred';
import type { Disposable } from '../base/disposable';
import { asError, HoldfastError } from '../base/errors';
import type { Log } from '../base/log';
import type { ExecuteOptions, ExecutionReply } from '../kernel/execution';
import type { PooledKernel } from '../kernel/kernel';
import { asOutput, type KernelOutput } from '../kernel/output';
import type { Call, CallPlace, Turn } from './call';
import {
  causeOfAbort,
  deadlineAt,
  saysLimitPassed,
  watchLimits,
  type LimitCause,
} from './deadline';
import { deathOf } from './death';
import { Interruption, SentInterrupt } from './interruption';
import type { SessionIdentity } from './key';
import {
  endOfKernel,
  endOfLimit,
  endOfReply,
  outcomeOf,
  verdictOfNotRun,
  verdictOfRun,
  type NotRunCause,
  type RunEnd,
  type Verdict,
} from './outcome';
import { OutputLog } from './outputLog';
import type { RunRecord } from './records';
import type { ExecutionResult, ExecutionSnapshot, PoolExecuteOptions } from './types';

interface CallParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxOutputBytes: number;
  /** It was asked for in a pool that is gone; where it has a start, its code was sent. */
  readonly earlier?: RunRecord;
}

interface Running {
  readonly kernel: PooledKernel;
  readonly turn: Turn;
  readonly abort: AbortController;
  readonly startedAt: number;
}

/** One run of code: waits, runs, keeps its limits, and settles once with a result. */
export class RunCall implements Call {
  readonly runsCode = true;
  readonly needsTurn = true;
  readonly ownerId: string | undefined;
  readonly deadlineAt: number | undefined;
  readonly wantsReset: boolean;
  readonly needsSlotNow: boolean;
  place: CallPlace | undefined;
  freshFrom: number | undefined;
  private readonly queuedAt: number;
  private readonly limits: Disposable;
  private readonly answer = deferred<ExecutionResult>();
  private readonly collected: OutputLog;
  private readonly notes: string[] = [];
  private running: Running | undefined;
  private interruption: Interruption | undefined;
  /** The caller has its answer; the kernel may still be at it. */
  private settled = false;
  /** A person interrupted it, last by this. */
  private sentInterrupt: SentInterrupt | undefined;
  private wasInterrupted = false;
  /** The limit that was over before the kernel of an earlier pool was found again. */
  private passed: LimitCause | undefined;

  constructor(
    private readonly code: string,
    private readonly options: PoolExecuteOptions,
    readonly identity: SessionIdentity,
    readonly executionId: string,
    private readonly parts: CallParts,
  ) {
    this.ownerId = options.ownerId;
    this.wantsReset = options.reset === true;
    this.needsSlotNow = this.wantsReset;
    this.queuedAt = parts.earlier?.queuedAt ?? parts.clock.now();
    this.deadlineAt = deadlineAt(options, this.queuedAt);
    this.collected = new OutputLog(parts.maxOutputBytes);
    this.limits = watchLimits(parts.clock, options, (cause) => this.limitPassed(cause));
  }

  get result(): Promise<ExecutionResult> {
    return this.answer.promise;
  }

  snapshot(): ExecutionSnapshot {
    const interrupt = this.interruption ?? this.sentInterrupt;
    const { startedAt } = this;
    return {
      id: this.executionId,
      ownerId: this.ownerId,
      queuedAt: this.queuedAt,
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(interrupt === undefined ? {} : { interruptedAt: interrupt.at }),
      ...(interrupt?.unheededSince === undefined ? {} : { unheeded: true as const }),
    };
  }

  record(isUnsent: boolean): RunRecord {
    const { ownerId, deadlineAt, startedAt } = this;
    const { origin, source } = this.options;
    const isKept = isUnsent && origin === 'person';
    return {
      id: this.executionId,
      queuedAt: this.queuedAt,
      ...(ownerId === undefined ? {} : { ownerId }),
      ...(origin === undefined ? {} : { origin }),
      ...(deadlineAt === undefined ? {} : { deadlineAt }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(isKept ? { code: this.code } : {}),
      ...(isKept && source !== undefined ? { source } : {}),
    };
  }

  /** When its code was sent. */
  private get startedAt(): number | undefined {
    return this.running?.startedAt ?? this.parts.earlier?.startedAt;
  }

  ready(): void {}

  perform(kernel: PooledKernel, turn: Turn): void {
    const abort = new AbortController();
    const startedAt = this.parts.earlier?.startedAt ?? this.parts.clock.now();
    this.running = { kernel, turn, abort, startedAt };
    for (const news of turn.news) this.collected.heading(news);
    this.notes.push(...turn.news);
    this.tell(this.options.onStart);
    this.send(kernel, this.executeOptions(turn, abort.signal)).then(
      (reply) => this.replied(reply),
      (error: unknown) => this.threw(error),
    );
    if (this.passed) this.stop(this.passed);
  }

  notRun(cause: NotRunCause): void {
    this.settle(verdictOfNotRun(cause));
  }

  fail(error: unknown): void {
    if (this.close()) this.answer.reject(error);
  }

  timeOut(): void {
    const limitMs = (this.deadlineAt ?? this.queuedAt) - this.queuedAt;
    this.notRun({ kind: 'timedOut', limitMs });
  }

  interrupt(bySignal: boolean): void {
    this.wasInterrupted = true;
    if (bySignal) this.stop({ kind: 'aborted' });
    else if (this.running) {
      const { turn } = this.running;
      this.sentInterrupt?.dispose();
      this.sentInterrupt = new SentInterrupt(this.parts.clock, () => turn.onChange());
      turn.onChange();
    }
  }

  kernelGone(cause: string): void {
    this.running = undefined;
    this.settle(verdictOfRun(endOfKernel(this.interruption?.cause, cause)));
    this.endInterrupts();
  }

  /** By an earlier pool. */
  private get wasSent(): boolean {
    const { earlier } = this.parts;
    return earlier !== undefined && earlier.code === undefined;
  }

  /** A kernel that throws instead of rejecting is treated alike. */
  private send(kernel: PooledKernel, options: ExecuteOptions): Promise<ExecutionReply> {
    try {
      if (!this.wasSent) return kernel.execute(this.code, options);
      if (kernel.resume) return kernel.resume(options);
      return Promise.reject(new HoldfastError('kernel_not_found', 'Its end can not be told.'));
    } catch (error) {
      return Promise.reject(asError(error));
    }
  }

  private executeOptions(turn: Turn, signal: AbortSignal): ExecuteOptions {
    const { onInput, source } = this.options;
    return {
      executionId: this.executionId,
      signal,
      onOutput: (output) => this.arrived(output, turn),
      ...(onInput === undefined ? {} : { onInput }),
      ...(source === undefined ? {} : { source }),
    };
  }

  private arrived(output: KernelOutput | string, turn: Turn): void {
    if (this.settled) {
      turn.onLateOutput(asOutput(output));
      return;
    }
    this.collected.add(asOutput(output));
    const { onOutput } = this.options;
    if (onOutput) this.tell(() => onOutput(output));
  }

  private limitPassed(cause: LimitCause): void {
    if (this.running) {
      this.stop(cause);
      return;
    }
    if (this.wasSent) {
      // It runs, and can be told to stop when its kernel is found again.
      this.passed = cause;
      return;
    }
    const { place } = this;
    const waitingFor = place?.waitingFor();
    this.notRun(waitingFor === undefined ? cause : { ...cause, waitingFor });
    place?.leave(this);
  }

  private stop(cause: LimitCause): void {
    const { running } = this;
    // The first reason is the one that the result names.
    if (!running || this.interruption) return;
    const { kernel, turn } = running;
    this.interruption = new Interruption(cause, kernel, this.parts.clock, {
      onUnheeded: () => turn.onChange(),
      stopKernel: () => turn.stopKernel(),
      onGivenUp: () => this.settle(verdictOfRun(endOfLimit(cause, !kernel.isAlive()))),
    });
    turn.onChange();
    this.interruption.send(running.abort);
  }

  private replied(reply: ExecutionReply): void {
    const { running } = this;
    if (!running) return;
    const elapsedMs = this.parts.clock.now() - running.startedAt;
    const gone = deathOf(running.kernel);
    this.turnEnded(endOfReply(reply, this.interruption?.cause, elapsedMs, gone), reply.cwd);
  }

  private threw(error: unknown): void {
    const { running } = this;
    if (!running) return;
    const gone = deathOf(running.kernel);
    const elapsedMs = this.parts.clock.now() - running.startedAt;
    const limit =
      this.interruption?.cause ??
      (saysLimitPassed(error) ? causeOfAbort(error, elapsedMs) : undefined);
    if (gone !== undefined) this.turnEnded(endOfKernel(this.interruption?.cause, gone));
    else if (limit !== undefined) this.turnEnded(endOfLimit(limit, false));
    else {
      this.fail(error);
      this.turnEnded({ kind: 'aborted' });
    }
  }

  private turnEnded(end: RunEnd, cwd?: string): void {
    const { running } = this;
    if (!running) return;
    this.running = undefined;
    this.endInterrupts();
    this.settle(verdictOfRun(end));
    const outcome = outcomeOf(end);
    running.turn.onFree({
      outcome: outcome === 'cancelled' && this.wasInterrupted ? 'interrupted' : outcome,
      ...(cwd === undefined ? {} : { cwd }),
    });
  }

  private endInterrupts(): void {
    this.interruption?.dispose();
    this.sentInterrupt?.dispose();
  }

  private settle(verdict: Verdict): void {
    if (!this.close()) return;
    const { note, ...rest } = verdict;
    if (note !== undefined) {
      this.collected.closing(note);
      this.notes.push(note);
    }
    const notes = this.notes.length > 0 ? { notes: this.notes } : {};
    this.answer.resolve({ ...this.collected.summary(), ...rest, ...notes });
  }

  /** Answers whether it was open. */
  private close(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.limits.dispose();
    return true;
  }

  /** A listener that throws is its own trouble, not the run's. */
  private tell(listener: (() => void) | undefined): void {
    try {
      listener?.();
    } catch (error) {
      this.parts.log.error('A listener of a run failed.', error);
    }
  }
}
