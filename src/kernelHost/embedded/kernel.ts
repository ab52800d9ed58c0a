import { systemClock } from '../../base/clock';
import { deferred } from '../../base/deferred';
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Heartbeat } from '../../base/heartbeat';
import type { Log } from '../../base/log';
import type { ExecutionReply, InterruptVerdict } from '../../kernel/execution';
import type { KernelExit, ShutdownOutcome, StopProgress } from '../../kernel/kernel';
import { ABORT_KILL_AFTER_MS, type KernelLimits } from '../../kernel/limits';
import type { KernelOutput } from '../../kernel/output';
import { startTimeOf, type Delivery, type Processes } from '../../platform/processes';
import type { Ledger } from '../../ledger/ledger';
import type { Leader } from '../process/spawn';
import { StopLadder } from '../process/stopLadder';
import { describeExit } from './exitText';
import type { RunnerFrame } from './frames';
import { toOutput } from './frameOutput';
import { RunnerPipes } from './pipes';
import { Run, type RunRequest } from './run';

const EXIT_AFTER_END_MS = 1_000;
/** A runner that has not begun what it was sent by then is stopped, or holds on to something. */
const BEGUN_WITHIN_MS = 2_000;

/** Facts about a kernel, in the order in which they happened. */
export interface KernelListener {
  /** `executionId` null: the output belongs to no run. */
  onOutput(executionId: string | null, output: KernelOutput): void;
  onQuestion(question: Question): void;
  /** The answer is no longer wanted. */
  onQuestionOver(id: number): void;
  onStopStep(progress: StopProgress): void;
  /** It has not answered since then, in ms since the epoch; undefined: it answers again. It may be alive all the same. */
  onSilence(since: number | undefined): void;
  /** The last fact. Its runs are settled right after. */
  onExit(exit: KernelExit): void;
}

export interface Question {
  readonly id: number;
  readonly executionId: string;
  readonly prompt: string;
  readonly password: boolean;
}

export interface KernelTools {
  readonly processes: Processes;
  /** Those in force now. */
  limits(): KernelLimits;
  readonly ledger: Ledger;
  readonly log: Log;
}

export type ReadyFrame = Extract<RunnerFrame, { op: 'ready' }>;

/** One embedded runner, from its spawn to the evidence of its end. Runs code one piece at a time, in order. */
export class EmbeddedKernel {
  private readonly pipes: RunnerPipes;
  private readonly ladder: StopLadder;
  private running: Run | undefined;
  private readonly waiting: Run[] = [];
  private question: Question | undefined;
  private questions = 0;
  private abortTimer: Disposable | undefined;
  /** From its first word to its exit. */
  private heartbeat: Heartbeat | undefined;
  private exit: KernelExit | undefined;
  private failure: string | undefined;
  /** Resolves at the exit, when everything that it wrote has been heard. */
  readonly exited: Promise<KernelExit>;
  /** Resolves when it has exited and what it left behind has been swept. */
  readonly gone: Promise<void>;
  readonly startTime: Promise<string | undefined>;

  constructor(
    private readonly leader: Leader,
    private readonly listener: KernelListener,
    private readonly onReady: (frame: ReadyFrame) => void,
    private readonly tools: KernelTools,
  ) {
    const { processes, ledger, log } = tools;
    this.startTime = startTimeOf(processes, leader.pid);
    void this.startTime.then((startTime) => {
      ledger.spawned(leader.nonce, {
        pid: leader.pid,
        ...(startTime !== undefined && { startTime }),
      });
    });
    this.pipes = new RunnerPipes(
      leader,
      {
        onFrame: (frame) => this.onFrame(frame),
        onText: (name, text) => this.tell(this.running?.id ?? null, { type: 'stream', name, text }),
        onBroken: (error) => this.onBroken(messageOf(error)),
        onFramesEnd: () => this.onFramesEnd(),
      },
      log,
    );
    this.ladder = new StopLadder(
      {
        leader,
        startTime: this.startTime,
        isBusy: () => this.running !== undefined,
        ask: () => this.pipes.send({ op: 'exit' }),
        interrupt: () => this.signalInterrupt(),
      },
      processes,
      () => tools.limits().stop,
      (progress) => listener.onStopStep(progress),
      log,
    );
    this.exited = leader.exited.then(() => this.onExit());
    this.gone = this.end();
  }

  get pid(): number {
    return this.leader.pid;
  }

  /** The mark in its environment. */
  get nonce(): string {
    return this.leader.nonce;
  }

  /** What the code asks and nobody has answered. */
  get openQuestion(): Question | undefined {
    return this.question;
  }

  get silentSince(): number | undefined {
    return this.heartbeat?.silentSince;
  }

  get stderr(): string {
    return this.pipes.stderr;
  }

  /** Why it had to be ended, where its runner broke the rules. */
  get failureText(): string | undefined {
    return this.failure;
  }

  /** Settles when the code has run, was cancelled, or the kernel died. All its output has been told before. */
  execute(request: RunRequest): Promise<ExecutionReply> {
    const run = new Run(request);
    if (this.exit !== undefined) run.cancel();
    else this.waiting.push(run);
    this.next();
    return run.replied;
  }

  /** The run is no longer wanted. One that waits ends at once; one that runs is interrupted, then killed with its kernel. */
  abort(executionId: string): void {
    const index = this.waiting.findIndex(({ id }) => id === executionId);
    if (index >= 0) return this.waiting.splice(index, 1)[0]?.cancel();
    const run = this.running;
    if (run?.id !== executionId || run.aborted) return;
    run.aborted = true;
    this.abortTimer = systemClock.after(ABORT_KILL_AFTER_MS, () => {
      run.killed = true;
      void this.ladder.kill();
    });
    this.interrupt(executionId).catch((error: unknown) =>
      this.tools.log.error(`Kernel ${this.pid} could not be interrupted.`, error),
    );
  }

  /**
   * Sends a real interrupt, each time. With an id it reaches that run or none. One that comes before the runner has begun
   * the code waits for that, 2 s at most: sent at once, it would find nothing to interrupt.
   */
  async interrupt(executionId?: string): Promise<InterruptVerdict> {
    const run = this.running;
    const isMeant = executionId === undefined || run?.id === executionId;
    if (run !== undefined && isMeant) await begunWithin(run);
    // It may have ended meanwhile, and another have begun.
    if (this.exit === undefined && (!isMeant || this.running !== run)) {
      return { delivered: false, target: this.group, reason: 'This run is not running.' };
    }
    return this.signalInterrupt();
  }

  private get group(): string {
    return `process group ${this.pid}`;
  }

  private async signalInterrupt(): Promise<InterruptVerdict> {
    const target = this.group;
    if (this.exit !== undefined) return { delivered: false, target, reason: 'The kernel is gone.' };
    this.endQuestion();
    if (process.platform === 'win32') {
      this.pipes.send({ op: 'interrupt' });
      return { delivered: true, target: `kernel ${this.pid}` };
    }
    return verdictOn(target, await this.tools.processes.signalGroup(this.pid, 'SIGINT'));
  }

  answer(questionId: number, text: string | null): void {
    if (this.question?.id !== questionId) return;
    const { executionId } = this.question;
    this.question = undefined;
    this.pipes.send({ op: 'input', id: executionId, text });
  }

  stop(timeoutMs?: number): Promise<ShutdownOutcome> {
    return this.afterExit(this.ladder.stop(timeoutMs));
  }

  kill(): Promise<ShutdownOutcome> {
    return this.afterExit(this.ladder.kill());
  }

  /** Resident memory of it and all that came of it, in bytes. */
  async memory(): Promise<number | undefined> {
    if (this.exit !== undefined) return undefined;
    const members = await this.tools.processes.family(this.leader);
    return members?.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  }

  /** Never rejects: nobody need be there to hear it. */
  private async end(): Promise<void> {
    try {
      await Promise.all([this.exited, this.ladder.swept]);
      if (this.ladder.leftNobody) this.tools.ledger.gone(this.leader.nonce);
    } catch (error) {
      this.tools.log.error(`The end of kernel ${this.pid} could not be told in full.`, error);
    }
  }

  /** The exit is told before the stop's outcome. */
  private async afterExit(stop: Promise<ShutdownOutcome>): Promise<ShutdownOutcome> {
    const outcome = await stop;
    if (this.leader.exit() !== undefined) await this.exited;
    return outcome;
  }

  private next(): void {
    if (this.running !== undefined || this.exit !== undefined) return;
    const run = this.waiting.shift();
    if (run === undefined) return;
    this.running = run;
    const { executionId: id, code, source, stdin } = run.request;
    const position = source === undefined ? {} : { file: source.file, line: source.line };
    this.pipes.send({ op: 'execute', id, code, stdin, ...position });
  }

  private onFrame(frame: RunnerFrame): void {
    this.heartbeat?.heard();
    switch (frame.op) {
      case 'ready':
        this.watch();
        return this.onReady(frame);
      case 'begun':
        if (this.running?.id === frame.run) this.running.begin();
        return;
      case 'pong':
        return;
      case 'input':
        return this.ask(frame);
      case 'done':
        return void this.finish(frame);
      default:
        return this.tell(frame.run, toOutput(frame));
    }
  }

  private watch(): void {
    if (this.heartbeat !== undefined || this.leader.exit() !== undefined) return;
    this.heartbeat = new Heartbeat({
      clock: systemClock,
      ask: () => this.pipes.send({ op: 'ping' }),
      onChange: (since) => {
        const doing = since === undefined ? 'answers again' : 'does not answer';
        this.tools.log.info(`Kernel ${this.pid} ${doing}.`);
        this.listener.onSilence(since);
      },
    });
  }

  private tell(executionId: string | null, output: KernelOutput): void {
    this.listener.onOutput(executionId, output);
  }

  private ask({ run, prompt, password }: Extract<RunnerFrame, { op: 'input' }>): void {
    this.endQuestion();
    const executionId = run ?? this.running?.id;
    if (executionId === undefined) return;
    this.questions += 1;
    this.question = { id: this.questions, executionId, prompt, password };
    this.listener.onQuestion(this.question);
  }

  private endQuestion(): void {
    if (this.question === undefined) return;
    const { id } = this.question;
    this.question = undefined;
    this.listener.onQuestionOver(id);
  }

  private async finish(frame: Extract<RunnerFrame, { op: 'done' }>): Promise<void> {
    // What subprocesses and native code wrote may still be on its way on other descriptors.
    await this.pipes.drain();
    const run = this.running;
    if (run?.id !== frame.run) return;
    this.running = undefined;
    this.abortTimer?.dispose();
    this.endQuestion();
    run.end(frame);
    this.next();
  }

  private onBroken(why: string): void {
    if (this.leader.exit() !== undefined) return;
    this.failure ??= why;
    void this.ladder.kill();
  }

  private onFramesEnd(): void {
    // A process that ends closes its descriptors a moment before its exit is told.
    systemClock.after(EXIT_AFTER_END_MS, () => {
      if (!this.ladder.isStopping) this.onBroken('Its runner closed the connection but went on.');
    });
  }

  private async onExit(): Promise<KernelExit> {
    // Now: the stop may be over before everything has been read.
    const asked = this.ladder.isStopping && 'asked';
    this.heartbeat?.dispose();
    await this.pipes.drain();
    this.abortTimer?.dispose();
    this.endQuestion();
    this.exit = describeExit({
      status: this.leader.exit() ?? { code: null, signal: null },
      stderr: this.pipes.stderr,
      stopped: this.running?.killed === true ? 'unheeded' : asked,
      failure: this.failure,
    });
    this.pipes.close();
    this.tools.log.info(`Kernel ${this.pid}: ${this.exit.summary}`);
    this.listener.onExit(this.exit);
    for (const run of [this.running, ...this.waiting.splice(0)]) run?.cancel();
    this.running = undefined;
    return this.exit;
  }
}

async function begunWithin(run: Run): Promise<void> {
  const late = deferred();
  const limit = systemClock.after(BEGUN_WITHIN_MS, late.resolve);
  await Promise.race([run.whenBegun, late.promise]);
  limit.dispose();
}

function verdictOn(target: string, delivery: Delivery): InterruptVerdict {
  switch (delivery) {
    case 'sent':
      return { delivered: true, target };
    case 'nobody':
      return { delivered: false, target, reason: 'Nobody is in it.' };
    case 'forbidden':
      return {
        delivered: false,
        target,
        reason: 'It is not permitted: its processes belong to another user.',
      };
    case 'unable':
      return { delivered: false, target, reason: 'The system cannot send it a signal.' };
  }
}
