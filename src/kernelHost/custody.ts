import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../base/clock';
import { HoldfastError } from '../base/errors';
import type { WithheldNames } from '../kernel/environment';
import type { Language } from '../kernel/language';
import type { KernelExit, StopProgress } from '../kernel/kernel';
import type { EmbeddedKernel, KernelTools, Question } from './embedded/kernel';
import { startEmbeddedKernel, type StartedKernel } from './embedded/start';
import { HeldKernel } from './heldKernel';
import { History } from './history';
import { Leftovers } from './leftovers';
import { Outbox, type Batch } from './outbox';
import type { Runners } from './runners';

/** Who hears of the kernels: the client, while there is one. */
export interface CustodyListener {
  onOutput(kernelId: string, batch: Batch): void;
  onQuestion(kernelId: string, question: Question): void;
  onQuestionOver(kernelId: string, question: number): void;
  onStopStep(kernelId: string, progress: StopProgress): void;
  onSilence(kernelId: string, since: number | undefined): void;
  onExit(kernelId: string, exit: KernelExit): void;
  /** Another number of kernels is held. */
  onCount(): void;
}

/** What a kernel belongs to, in the client's words. */
interface Place {
  readonly id: string;
  readonly incarnation: number;
}

export interface StartSpec {
  readonly kernelId: string;
  readonly language: Language;
  readonly interpreter: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly place?: Place;
  readonly history: string;
  readonly withheld?: WithheldNames;
}

// Everything gone within 5 s of the end of the grace period, the kill 500 ms before the end.
const STOP_ALL_WITHIN_MS = 3_000;
const RETRY_EVERY_MS = 30_000;
const RETRY_AT_MOST_MS = 10 * 60_000;
/** The oldest histories without a kernel go. */
const HISTORIES = 16;
/** Kernels that are gone, whose stderr can still be read. */
const STDERRS = 16;

/** Holds every kernel of this host from before its spawn until the evidence of its end. */
export class Custody {
  private readonly held = new Map<string, HeldKernel>();
  private readonly histories = new Map<string, History>();
  private readonly leftovers: Leftovers;
  private readonly lastStderrs = new Map<string, string>();
  private closed = false;

  constructor(
    private readonly runners: Runners,
    private readonly tools: KernelTools,
    private readonly listener: CustodyListener,
    retryEveryMs = RETRY_EVERY_MS,
  ) {
    this.leftovers = new Leftovers(tools.log, retryEveryMs);
  }

  /** Rejects as `startEmbeddedKernel` does. */
  async start(spec: StartSpec, signal: AbortSignal): Promise<StartedKernel> {
    if (this.closed) throw new HoldfastError('closed', 'The kernel host is leaving.');
    const { kernelId, cwd, env } = spec;
    const launch = this.runners.launch(spec.language, spec.interpreter);
    const outbox = new Outbox((batch) => this.listener.onOutput(kernelId, batch));
    const held = new HeldKernel(spec, outbox, this.history(spec.history), systemClock);
    this.held.set(kernelId, held);
    this.listener.onCount();
    const forget = (): void => {
      this.held.delete(kernelId);
      held.dispose();
      this.listener.onCount();
    };
    const { listener } = this;
    try {
      const started = await held.start((leaving) =>
        startEmbeddedKernel(
          { launch, cwd, env, limitMs: this.tools.limits().readyWithinMs },
          {
            onOutput: (executionId, output) => held.push(executionId, output),
            onQuestion: (question) => {
              outbox.flush();
              listener.onQuestion(kernelId, question);
            },
            onQuestionOver: (question) => listener.onQuestionOver(kernelId, question),
            onStopStep: (progress) => listener.onStopStep(kernelId, progress),
            onSilence: (since) => listener.onSilence(kernelId, since),
            onExit: (exit) => {
              outbox.flush();
              listener.onExit(kernelId, exit);
            },
          },
          this.tools,
          AbortSignal.any([signal, leaving]),
          (left) => this.leftovers.add(left),
        ),
      );
      const end = started.kernel.gone.then(() => {
        this.keepStderr(kernelId, started.kernel.stderr);
        forget();
      });
      end.catch((error: unknown) => {
        this.tools.log.error(`Kernel ${kernelId} could not be let go of.`, error);
      });
      return started;
    } catch (error) {
      forget();
      throw error;
    }
  }

  find(kernelId: string): HeldKernel | undefined {
    return this.held.get(kernelId);
  }

  /** undefined: no such kernel is or was there, or it is too long ago. */
  stderrOf(kernelId: string): string | undefined {
    return this.find(kernelId)?.kernel?.stderr ?? this.lastStderrs.get(kernelId);
  }

  get all(): readonly HeldKernel[] {
    return [...this.held.values()];
  }

  get historyNames(): readonly string[] {
    return [...this.histories.keys()];
  }

  readHistory(name: string, after: number): ReturnType<History['read']> {
    return this.histories.get(name)?.read(after) ?? [];
  }

  /** Nobody hears any more; what happens goes into the histories alone, until a kernel is opened. */
  park(): void {
    for (const { outbox } of this.held.values()) outbox.park();
  }

  /**
   * Takes no more kernels, ends those that start, and stops the others. Unconfirmed ones are tried again every 30 s, for
   * 10 minutes at most. Resolves to whether all ends were confirmed.
   */
  async close(): Promise<boolean> {
    await this.endStarts();
    const giveUpAt = performance.now() + RETRY_AT_MOST_MS;
    for (;;) {
      const stops = this.kernels.map((kernel) => kernel.stop(STOP_ALL_WITHIN_MS));
      const outcomes = await Promise.all(stops);
      if (outcomes.every(({ confirmed }) => confirmed)) return true;
      if (performance.now() + RETRY_EVERY_MS > giveUpAt) return false;
      await delay(RETRY_EVERY_MS);
    }
  }

  /** Without any politeness, for a host that breaks down. */
  async kill(): Promise<void> {
    const kills = this.kernels.map((kernel) => kernel.kill());
    await Promise.allSettled([...kills, this.endStarts()]);
  }

  private get kernels(): readonly EmbeddedKernel[] {
    return [...this.all.flatMap(({ kernel }) => kernel ?? []), ...this.leftovers.all];
  }

  private async endStarts(): Promise<void> {
    this.closed = true;
    const starts = this.all.flatMap((held) => held.callOffStart() ?? []);
    await Promise.allSettled(starts);
  }

  private keepStderr(kernelId: string, text: string): void {
    this.lastStderrs.set(kernelId, text);
    const [oldest] = this.lastStderrs.keys();
    if (this.lastStderrs.size > STDERRS && oldest !== undefined) this.lastStderrs.delete(oldest);
  }

  private history(name: string): History {
    const history = this.histories.get(name) ?? new History();
    // The latest last, for the order in which they go.
    this.histories.delete(name);
    this.histories.set(name, history);
    const inUse = new Set(this.all.map((held) => held.spec.history));
    for (const each of this.histories.keys()) {
      if (this.histories.size <= HISTORIES) break;
      if (each !== name && !inUse.has(each)) this.histories.delete(each);
    }
    return history;
  }
}
