import { systemClock } from '../base/clock';
import { HoldfastError } from '../base/errors';
import type { Log } from '../base/log';
import { deadlineAt } from '../pool/deadline';
import type { ExecutionResult, PoolExecuteOptions } from '../pool/types';
import { ActiveRuns } from './activeRuns';
import { CallOrder } from './callOrder';
import { disposeOwned, type OwnerDisposer } from './disposers';
import { askHooks, outputOf, type BeforeRunHook } from './hooks';
import { notStarted } from './notStarted';
import { abortLate } from './timeLimit';
import { unlessAborted } from './unlessAborted';
import { recordOf, RecordQueue, type RunFacts, type RunRecordEntry } from './records';

const ACTIVE_WAIT_MS = 3_000;
const ABORTED_WAIT_MS = 1_000;

/** A run as it is asked for; what the pool understands is passed on to it. */
export interface RunOptions extends Omit<PoolExecuteOptions, 'ownerId'> {
  readonly language: string;
  /** Keeps the run out of the agent's context; recorded all the same. Default false. */
  readonly excludeFromContext?: boolean;
  /**
   * Runs of the same name reach `execute` in the order of their calls, however long each one's hooks take. A hook that
   * awaits a run of the name it was asked for waits for itself, for ever.
   */
  readonly inOrderOf?: string;
}

/** What a run hands to whoever performs it. */
export interface ExecuteOptions extends PoolExecuteOptions {
  readonly ownerId: string;
  readonly language: string;
  /** Aborted with the run: by `abort()`, by disposal or by the caller's own signal. */
  readonly signal: AbortSignal;
}

export interface EvalRunnerOptions {
  readonly ownerId: string;
  execute(code: string, options: ExecuteOptions): Promise<ExecutionResult>;
  /** Each lets go of what the owner holds in one place: a language's pool, the background runs. */
  readonly disposers: readonly OwnerDisposer[];
  /** Read at each run: may grow and shrink. */
  readonly hooks: readonly BeforeRunHook[];
  /** The owner's chat is streaming: records wait until `flush()`, or for the next record that need not. */
  isStreaming(): boolean;
  /** Keeps one record. One that throws is called again with the same record at the next occasion. */
  record(entry: RunRecordEntry): void;
  readonly log?: Pick<Log, 'warn' | 'error'>;
}

/** Work that is performed elsewhere, as hooks and records see it. */
export type WorkOptions = Pick<
  RunOptions,
  'language' | 'cwd' | 'excludeFromContext' | 'origin' | 'executionId'
>;

/** The one door through which an owner's code goes. */
export interface EvalRunner {
  /** Rejects with `closed` once disposal began, with what a hook threw, or as `execute` does. */
  run(code: string, options: RunOptions): Promise<ExecutionResult>;
  /**
   * Asks the hooks about code that is going to run elsewhere, and longer than a run is waited for. Resolves to the result
   * that one supplies, or to undefined: it may go on. Either is for the caller to record. Rejects as `run` does.
   */
  admit(code: string, options: WorkOptions): Promise<ExecutionResult | undefined>;
  /** Records what came of such code, in its turn. `startedAt`: when it was asked for, ms since the epoch. */
  record(code: string, options: WorkOptions, result: ExecutionResult, startedAt: number): void;
  /** Counts work that was started elsewhere, until it settles: waited for, and aborted, with the runs. */
  track(work: Promise<unknown>, abortController: AbortController): void;
  /** Signals all that goes on. It is over when it has settled, not before. */
  abort(): void;
  readonly isRunning: boolean;
  /** Records wait to be written. */
  readonly hasPending: boolean;
  /** Writes what waits, in order. Throws what `record` threw; what was not written goes on waiting. */
  flush(): void;
  /** Refuses runs from here on, for good. */
  beginDispose(): void;
  /**
   * Waits up to 3,000 ms for what goes on, aborts it, waits up to 1,000 ms more, then lets go of all that the owner
   * holds. Rejects with an AggregateError of the disposers' failures. Further calls join the first.
   */
  dispose(): Promise<void>;
}

export function createEvalRunner(options: EvalRunnerOptions): EvalRunner {
  return new Runner(options);
}

class Runner implements EvalRunner {
  private readonly active = new ActiveRuns();
  private readonly order = new CallOrder();
  private readonly records: RecordQueue;
  private phase: 'open' | 'closing' | 'disposed' = 'open';
  private disposal: Promise<void> | undefined;

  constructor(private readonly parts: EvalRunnerOptions) {
    this.records = new RecordQueue((entry) => parts.record(entry));
  }

  get isRunning(): boolean {
    return this.active.size > 0;
  }

  get hasPending(): boolean {
    return !this.records.isEmpty;
  }

  run(code: string, options: RunOptions): Promise<ExecutionResult> {
    if (this.phase !== 'open') return Promise.reject(closed());
    const controller = new AbortController();
    return this.active.during(controller, () => this.perform(code, options, controller));
  }

  admit(code: string, options: WorkOptions): Promise<ExecutionResult | undefined> {
    if (this.phase !== 'open') return Promise.reject(closed());
    const controller = new AbortController();
    return this.active.during(controller, async () => {
      const supplied = await this.ask(code, options, controller.signal);
      if (controller.signal.aborted) throw closed();
      return supplied;
    });
  }

  record(code: string, options: WorkOptions, result: ExecutionResult, startedAt: number): void {
    this.append(recordOf(this.facts(code, options, startedAt), result, systemClock.now()));
  }

  track(work: Promise<unknown>, abortController: AbortController): void {
    void this.active.during(abortController, () => work);
  }

  abort(): void {
    this.active.abort();
  }

  flush(): void {
    this.records.flush();
  }

  beginDispose(): void {
    if (this.phase === 'open') this.phase = 'closing';
  }

  dispose(): Promise<void> {
    this.beginDispose();
    this.disposal ??= this.disposeOnce();
    return this.disposal;
  }

  private async perform(
    code: string,
    options: RunOptions,
    controller: AbortController,
  ): Promise<ExecutionResult> {
    const startedAt = systemClock.now();
    const unfollow = follow(options.signal, controller);
    const deadlineMs = deadlineAt(options, startedAt);
    const inTime = abortLate(controller, deadlineMs);
    try {
      const limited = { ...options, ...(deadlineMs !== undefined && { deadlineMs }) };
      const result = await this.resultOf(code, limited, controller.signal, startedAt);
      this.record(code, options, result, startedAt);
      return result;
    } finally {
      inTime();
      unfollow();
    }
  }

  private async resultOf(
    code: string,
    options: RunOptions,
    signal: AbortSignal,
    startedAt: number,
  ): Promise<ExecutionResult> {
    const { language, cwd, excludeFromContext: _hooksOnly, inOrderOf, ...passedOn } = options;
    const place = inOrderOf === undefined ? undefined : this.order.enter(inOrderOf);
    try {
      // Where nobody is asked, the code is on its way before the call returns.
      if (this.parts.hooks.length > 0 && !signal.aborted) {
        const supplied = await this.ask(code, options, signal);
        if (supplied) {
          this.putOut(supplied, options.onOutput);
          return supplied;
        }
      }
      if (place) {
        await unlessAborted(place.reached, signal);
        this.assertOpen();
      }
      if (signal.aborted) return notStarted(signal.reason, systemClock.now() - startedAt);
      const { ownerId } = this.parts;
      const execution = this.parts.execute(code, { ...passedOn, language, cwd, ownerId, signal });
      place?.done();
      return await execution;
    } finally {
      place?.done();
    }
  }

  /** As the pool does: a listener that throws is its own trouble, not the run's. */
  private putOut(supplied: ExecutionResult, onOutput: RunOptions['onOutput']): void {
    if (!onOutput) return;
    try {
      for (const output of outputOf(supplied)) onOutput(output);
    } catch (error) {
      this.parts.log?.error('A listener of a run failed.', error);
    }
  }

  private ask(
    code: string,
    { language, cwd, excludeFromContext = false }: WorkOptions,
    signal: AbortSignal,
  ): Promise<ExecutionResult | undefined> {
    const round = { assertOpen: () => this.assertOpen(), signal };
    return askHooks(this.parts.hooks, { language, code, cwd, excludeFromContext }, round);
  }

  private facts(code: string, options: WorkOptions, startedAt: number): RunFacts {
    const { ownerId } = this.parts;
    const { language, cwd, excludeFromContext = false, origin = ownerId, executionId } = options;
    return { code, excludeFromContext, origin, ownerId, language, cwd, executionId, startedAt };
  }

  private append(entry: RunRecordEntry): void {
    this.records.add(entry);
    // After disposal nobody flushes.
    if (this.phase !== 'disposed' && this.parts.isStreaming()) return;
    this.tryFlush();
  }

  /** A run has its result whether it could be written down or not. */
  private tryFlush(): void {
    try {
      this.records.flush();
    } catch (error) {
      this.parts.log?.error('A run could not be recorded; its record waits.', error);
    }
  }

  private assertOpen(): void {
    if (this.phase !== 'open') throw closed();
  }

  private async disposeOnce(): Promise<void> {
    if (this.isRunning) await this.settle();
    this.phase = 'disposed';
    this.tryFlush();
    await disposeOwned(this.parts.disposers, this.parts.ownerId);
  }

  private async settle(): Promise<void> {
    if (await this.active.settledWithin(ACTIVE_WAIT_MS)) return;
    this.active.cutOff();
    if (await this.active.settledWithin(ABORTED_WAIT_MS)) return;
    const { ownerId, log } = this.parts;
    log?.warn(`${this.active.size} run(s) of ${ownerId} did not end when aborted; going on.`);
  }
}

function closed(): HoldfastError {
  return new HoldfastError('closed', 'Nothing runs here any more: its owner is closing.');
}

/** Aborts the controller with the signal. Call what it returns when that is no longer wanted. */
function follow(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (!signal) return () => undefined;
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}
