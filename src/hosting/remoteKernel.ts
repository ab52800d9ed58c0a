import { systemClock } from '../base/clock';
import { deferred } from '../base/deferred';
import { DisposableStore } from '../base/disposable';
import { codeOf, messageOf } from '../base/errors';
import { Emitter } from '../base/event';
import type { Log } from '../base/log';
import type { WithheldNames } from '../kernel/environment';
import type { ExecuteOptions, ExecutionReply, InterruptVerdict } from '../kernel/execution';
import type {
  KernelExit,
  PooledKernel,
  ShutdownOptions,
  ShutdownOutcome,
  Silence,
  StopProgress,
} from '../kernel/kernel';
import type { KernelOutput } from '../kernel/output';
import type { Processes } from '../platform/processes';
import * as m from '../protocol/messages';
import type { HistoryEntry } from '../protocol/vocabulary';
import { Backlog } from './backlog';
import type { HostConnection, KernelChannel } from './hostConnection';
import { endOrphan } from './orphan';
import { paced } from './paced';
import { RemoteRun } from './remoteRun';

const MEMORY_EVERY_MS = 2_000;
/** A host that is known not to answer is given this long, for a kill that will not wait. */
const SILENT_HOST_WITHIN_MS = 1_000;

interface LateOutput {
  readonly executionId: string | undefined;
  readonly output: KernelOutput;
}

interface RemoteKernelFacts {
  readonly pid: number;
  readonly startTime?: string;
  /** The mark in its environment. */
  readonly nonce: string;
  readonly description: string;
  readonly withheld?: WithheldNames;
}

/** A kernel in the kernel host, as the pool sees it. */
export class RemoteKernel implements PooledKernel, KernelChannel {
  private readonly store = new DisposableStore();
  private readonly runs = new Map<string, RemoteRun>();
  private readonly didExit = new Emitter<KernelExit>();
  private readonly didStopStep = new Emitter<StopProgress>();
  private readonly didChangeSilence = new Emitter<void>();
  private readonly didLateOutput = new Emitter<LateOutput>();
  private readonly backlog = new Backlog();
  /** What came before the answer that says what came before it. */
  private early: (() => void)[] | undefined;
  private facts: RemoteKernelFacts | undefined;
  private exitFact: KernelExit | undefined;
  private pastAsking = false;
  private silentSince: number | undefined;
  private orphaned: Promise<ShutdownOutcome> | undefined;
  /** What it asks, until the run is taken up. */
  private question: Parameters<KernelChannel['onQuestion']>[0] | undefined;

  readonly onDidExit = this.didExit.event;
  readonly onDidStopStep = this.didStopStep.event;
  readonly onDidChangeSilence = this.didChangeSilence.event;
  readonly onDidLateOutput = this.didLateOutput.event;
  // The host reads the whole process table for it: a figure for people and for a cap, not worth a run's time.
  readonly memory = paced(MEMORY_EVERY_MS, () => this.measureMemory());

  constructor(
    private readonly name: string,
    private readonly connection: HostConnection,
    private readonly processes: Processes,
    private readonly log: Log,
  ) {
    this.store.add(connection.join(name, this));
  }

  /** The start has ended well. */
  started(facts: RemoteKernelFacts): void {
    this.facts = facts;
  }

  /**
   * Takes up a kernel that another client had started. Resolves to its history behind what is known of it, which is
   * where what it does from now on goes on. Rejects as its start does, and with `kernel_not_found` when it is gone.
   */
  async takeUp(
    known: readonly HistoryEntry[],
    signal: AbortSignal,
    withinMs: number,
  ): Promise<readonly HistoryEntry[]> {
    const early: (() => void)[] = [];
    this.early = early;
    const params = { kernel: this.name, after: known.at(-1)?.n ?? 0 };
    const { facts, entries, question, silentSince } = await this.connection.ask(
      m.openKernel,
      params,
      { signal, withinMs },
    );
    this.facts = facts;
    this.silentSince = silentSince ?? undefined;
    this.backlog.fill(this.name, [...known, ...entries]);
    if (question !== null) this.question = { kernel: this.name, ...question };
    this.early = undefined;
    for (const fact of early) fact();
    return entries;
  }

  /** The start has failed: nobody will hear of this kernel. */
  discard(): void {
    this.store.dispose();
  }

  /** Known once it has started. */
  get pid(): number | undefined {
    return this.facts?.pid;
  }

  get description(): string {
    return this.facts?.description ?? '';
  }

  get withheldEnvironment(): WithheldNames | undefined {
    return this.facts?.withheld;
  }

  get exit(): KernelExit | undefined {
    return this.exitFact;
  }

  get whyAway(): string | undefined {
    return this.connection.isLeft ? 'Its window closed while it ran.' : undefined;
  }

  get silence(): Silence | undefined {
    if (this.exitFact !== undefined) return undefined;
    const { silentSince: hostSince } = this.connection;
    // Nothing is known of what is behind a host that does not answer.
    if (hostSince !== undefined) return { since: hostSince, of: 'kernelHost' };
    const since = this.silentSince;
    return since === undefined ? undefined : { since, of: 'kernel' };
  }

  isAlive(): boolean {
    return this.exitFact === undefined && this.connection.isOpen;
  }

  isStopping(): boolean {
    return this.pastAsking;
  }

  async execute(code: string, options: ExecuteOptions): Promise<ExecutionReply> {
    const { executionId: execution, source, signal } = options;
    if (!this.isAlive() || signal.aborted) return cancelledReply;
    // What was kept of a run with this id is nobody's any more: its output comes from now on.
    if (this.backlog.isOf(execution)) this.backlog.take(execution);
    return this.follow(options, () =>
      this.connection.ask(
        m.execute,
        {
          kernel: this.name,
          execution,
          code,
          stdin: options.onInput !== undefined,
          ...(source !== undefined && { source: { file: source.file, line: source.line } }),
        },
        { withinMs: Infinity },
      ),
    );
  }

  /** Of the latest run that the kernel had when it was taken up. */
  async resume(options: ExecuteOptions): Promise<ExecutionReply> {
    const { executionId: execution } = options;
    const { outputs, reply } = this.backlog.take(execution);
    return this.follow(options, (run) => {
      for (const output of outputs) this.pass(run, output);
      // Whatever has become of the kernel since.
      if (reply !== undefined) return Promise.resolve(reply);
      const { question } = this;
      this.question = undefined;
      if (question !== undefined) this.onQuestion(question);
      const params = { kernel: this.name, execution };
      return this.connection.ask(m.awaitExecution, params, { withinMs: Infinity });
    });
  }

  private async follow(
    options: ExecuteOptions,
    ask: (run: RemoteRun) => Promise<ExecutionReply>,
  ): Promise<ExecutionReply> {
    const { executionId: execution, signal } = options;
    const run = new RemoteRun(
      options,
      (question, text) =>
        this.connection.tell(m.answerInput, { kernel: this.name, question, text }),
      this.log,
    );
    this.runs.set(execution, run);
    const store = new DisposableStore();
    const unanswered = deferred<ExecutionReply>();
    const abort = (): void => {
      this.connection.tell(m.abortExecution, { kernel: this.name, execution });
      const killFromHere = (): void =>
        void this.endAsOrphan().then(({ confirmed }) =>
          unanswered.resolve({ ...cancelledReply, ...(confirmed && { killed: true }) }),
        );
      store.add(systemClock.after(this.connection.answerLimits.abort, killFromHere));
    };
    try {
      const reply = ask(run);
      // After the request, so that the host knows which run is meant.
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      return await Promise.race([reply, unanswered.promise]);
    } catch (error) {
      if (!isDeath(error)) throw error;
      // The exit says how: it is there before the reply, as the caller reads it next.
      if (!this.connection.isOpen && !this.connection.isLeft) await this.endAsOrphan();
      return cancelledReply;
    } finally {
      signal.removeEventListener('abort', abort);
      store.dispose();
      this.runs.delete(execution);
      run.dispose();
    }
  }

  async interrupt(executionId?: string): Promise<InterruptVerdict> {
    const target = `process group ${this.pid ?? 'of a kernel that starts'}`;
    try {
      const execution = executionId === undefined ? {} : { execution: executionId };
      return await this.connection.ask(m.interrupt, { kernel: this.name, ...execution });
    } catch (error) {
      return { delivered: false, target, reason: messageOf(error) };
    }
  }

  shutdown(options?: ShutdownOptions): Promise<ShutdownOutcome> {
    const limit = options === undefined ? {} : { timeoutMs: options.timeoutMs };
    const withinMs = options?.timeoutMs ?? this.connection.answerLimits.stop;
    return this.end(options === undefined, () =>
      this.connection.ask(m.shutdownKernel, { kernel: this.name, ...limit }, { withinMs }),
    );
  }

  kill(): Promise<ShutdownOutcome> {
    const { silentSince, answerLimits } = this.connection;
    const withinMs = silentSince === undefined ? answerLimits.kill : SILENT_HOST_WITHIN_MS;
    return this.end(true, () =>
      this.connection.ask(m.killKernel, { kernel: this.name }, { withinMs }),
    );
  }

  /** Where the host has it no more, what the exit told. Rejects when a host that is there does not answer within 5 s. */
  async stderr(): Promise<string> {
    const { exitFact } = this;
    if (exitFact !== undefined && !this.connection.isOpen) return exitFact.stderrTail;
    try {
      const params = { kernel: this.name };
      const { text } = await this.connection.ask(m.readStderr, params);
      return text;
    } catch (error) {
      if (this.exitFact !== undefined) return this.exitFact.stderrTail;
      throw error;
    }
  }

  private async measureMemory(): Promise<number | undefined> {
    if (!this.isAlive()) return undefined;
    try {
      const { bytes } = await this.connection.ask(m.measureMemory, { kernel: this.name });
      return bytes ?? undefined;
    } catch (error) {
      this.log.debug(`No figure for the memory of ${this.name}: ${messageOf(error)}`);
      return undefined;
    }
  }

  onOutput: KernelChannel['onOutput'] = (items) => {
    if (this.early !== undefined) return void this.early.push(() => this.onOutput(items));
    for (const { execution, output } of items) {
      if (this.backlog.push(execution, output)) continue;
      const run = execution === null ? undefined : this.runs.get(execution);
      if (run !== undefined) this.pass(run, output);
      else this.didLateOutput.fire({ executionId: execution ?? undefined, output });
    }
  };

  onQuestion: KernelChannel['onQuestion'] = (asked) => {
    if (this.early !== undefined) return void this.early.push(() => this.onQuestion(asked));
    const { execution, question, prompt, password } = asked;
    const run = this.runs.get(execution);
    if (this.backlog.isOf(execution)) this.question = asked;
    else if (run !== undefined) run.ask({ id: question, prompt, password });
    else this.connection.tell(m.answerInput, { kernel: this.name, question, text: null });
  };

  onQuestionOver: KernelChannel['onQuestionOver'] = (question) => {
    if (this.question?.question === question) this.question = undefined;
    for (const run of this.runs.values()) run.questionOver(question);
  };

  onStopStep: KernelChannel['onStopStep'] = (progress) => {
    if (progress.step !== 'ask' && progress.step !== 'sweep') this.pastAsking = true;
    this.didStopStep.fire(progress);
  };

  onSilence: KernelChannel['onSilence'] = (since) => {
    if (this.early !== undefined) return void this.early.push(() => this.onSilence(since));
    this.silentSince = since ?? undefined;
    this.didChangeSilence.fire();
  };

  onHostSilence: KernelChannel['onHostSilence'] = () => this.didChangeSilence.fire();

  onExit: KernelChannel['onExit'] = (exit) => {
    if (this.exitFact !== undefined) return;
    this.exitFact = exit;
    this.store.dispose();
    this.didExit.fire(exit);
  };

  onClosed: KernelChannel['onClosed'] = (why) => {
    if (why === 'lost') void this.endAsOrphan();
  };

  /** A listener that throws costs neither the other items nor the connection. */
  private pass(run: RemoteRun, output: KernelOutput): void {
    try {
      run.options.onOutput(output);
    } catch (error) {
      this.log.error('What takes a run’s output failed.', error);
    }
  }

  /** `fromHere`: where the host does not answer, there is time left to end the kernel without it. */
  private async end(
    fromHere: boolean,
    ask: () => Promise<ShutdownOutcome>,
  ): Promise<ShutdownOutcome> {
    if (this.exitFact !== undefined) return { confirmed: true };
    if (this.connection.isLeft) return { confirmed: false, reason: 'The window is leaving.' };
    if (!this.connection.isOpen) return this.endAsOrphan();
    try {
      return await ask();
    } catch (error) {
      // The host holds a kernel until its exit was observed.
      if (codeOf(error) === 'kernel_not_found') return { confirmed: true };
      if (!this.connection.isOpen || (fromHere && isDeath(error))) return this.endAsOrphan();
      return { confirmed: false, reason: messageOf(error) };
    }
  }

  /** The host is gone and nobody holds the kernel any more: it is ended from here, and tried again when asked again. */
  private endAsOrphan(): Promise<ShutdownOutcome> {
    if (this.exitFact !== undefined) return Promise.resolve({ confirmed: true });
    this.orphaned ??= this.endOrphanNow().finally(() => (this.orphaned = undefined));
    return this.orphaned;
  }

  private async endOrphanNow(): Promise<ShutdownOutcome> {
    const why = this.connection.isOpen ? 'did not answer' : 'died';
    const { pid, startTime, nonce } = this.facts ?? {};
    const outcome: ShutdownOutcome =
      pid === undefined || startTime === undefined || nonce === undefined
        ? { confirmed: false, reason: 'The system does not tell which process it was.' }
        : await endOrphan(this.processes, { pid, startTime, nonce });
    if (!outcome.confirmed) {
      // No evidence, no exit: whoever counts on it goes on counting it.
      this.log.warn(`Kernel ${this.pid ?? this.name}: ${outcome.reason ?? ''}`);
      return outcome;
    }
    this.onExit({
      code: null,
      signal: null,
      stderrTail: '',
      summary: `The kernel ended because the kernel host ${why}. Its variables are lost; the next run starts a new one.`,
    });
    return outcome;
  }
}

const cancelledReply: ExecutionReply = {
  status: 'error',
  cancelled: true,
  timedOut: false,
  stdinRequested: false,
};

function isDeath(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'host_lost' || code === 'kernel_not_found' || code === 'kernel_died';
}
