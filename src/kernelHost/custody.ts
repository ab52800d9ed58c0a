import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../base/errors';
import type { Language } from '../kernel/language';
import type { KernelExit, StopProgress } from '../kernel/kernel';
import type { EmbeddedKernel, KernelTools, Question } from './embedded/kernel';
import { startEmbeddedKernel, type StartedKernel } from './embedded/start';
import { Outbox, type Batch } from './outbox';
import type { Runners } from './runners';

/** Who hears of the kernels: the client, while there is one. */
export interface CustodyListener {
  onOutput(kernelId: string, batch: Batch): void;
  onQuestion(kernelId: string, question: Question): void;
  onQuestionOver(kernelId: string, question: number): void;
  onStopStep(kernelId: string, progress: StopProgress): void;
  onExit(kernelId: string, exit: KernelExit): void;
}

export interface HeldKernel {
  readonly kernel: EmbeddedKernel;
  readonly outbox: Outbox;
}

export interface StartSpec {
  readonly kernelId: string;
  readonly language: Language;
  readonly interpreter: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

// Everything gone within 5 s of the client, the kill 500 ms before the end.
const STOP_ALL_WITHIN_MS = 3_000;
const RETRY_EVERY_MS = 30_000;
const RETRY_AT_MOST_MS = 10 * 60_000;

/** Holds every kernel of this host from before its spawn until the evidence of its end. */
export class Custody {
  private readonly held = new Map<string, HeldKernel>();
  private readonly starting = new Map<Promise<StartedKernel>, AbortController>();
  private closed = false;

  constructor(
    private readonly runners: Runners,
    private readonly tools: KernelTools,
    private readonly listener: CustodyListener,
  ) {}

  /** Rejects as `startEmbeddedKernel` does. */
  async start(spec: StartSpec, signal: AbortSignal): Promise<StartedKernel> {
    if (this.closed) throw new HoldfastError('closed', 'The kernel host is leaving.');
    const { kernelId, cwd, env } = spec;
    const { listener } = this;
    const outbox = new Outbox((batch) => listener.onOutput(kernelId, batch));
    const launch = this.runners.launch(spec.language, spec.interpreter);
    const leaving = new AbortController();
    const start = startEmbeddedKernel(
      { launch, cwd, env },
      {
        onOutput: (executionId, output) => outbox.push(executionId, output),
        onQuestion: (question) => {
          outbox.flush();
          listener.onQuestion(kernelId, question);
        },
        onQuestionOver: (question) => listener.onQuestionOver(kernelId, question),
        onStopStep: (progress) => listener.onStopStep(kernelId, progress),
        onExit: (exit) => {
          outbox.flush();
          listener.onExit(kernelId, exit);
        },
      },
      this.tools,
      AbortSignal.any([signal, leaving.signal]),
    );
    this.starting.set(start, leaving);
    try {
      const started = await start;
      const { kernel } = started;
      this.held.set(kernelId, { kernel, outbox });
      void kernel.gone.then(() => {
        this.held.delete(kernelId);
        outbox.dispose();
      });
      return started;
    } finally {
      this.starting.delete(start);
    }
  }

  find(kernelId: string): HeldKernel | undefined {
    return this.held.get(kernelId);
  }

  /**
   * Takes no more kernels, ends those that start, and stops the others. Unconfirmed ones are tried again every 30 s, for
   * 10 minutes at most. Resolves to whether all ends were confirmed.
   */
  async close(): Promise<boolean> {
    this.closed = true;
    for (const leaving of this.starting.values()) leaving.abort();
    await Promise.allSettled(this.starting.keys());
    const giveUpAt = Date.now() + RETRY_AT_MOST_MS;
    for (;;) {
      const stops = [...this.held.values()].map(({ kernel }) => kernel.stop(STOP_ALL_WITHIN_MS));
      const outcomes = await Promise.all(stops);
      if (outcomes.every(({ confirmed }) => confirmed)) return true;
      if (Date.now() + RETRY_EVERY_MS > giveUpAt) return false;
      await delay(RETRY_EVERY_MS);
    }
  }

  /** Without any politeness, for a host that breaks down. */
  async kill(): Promise<void> {
    this.closed = true;
    for (const leaving of this.starting.values()) leaving.abort();
    const kills = [...this.held.values()].map(({ kernel }) => kernel.kill());
    await Promise.allSettled([...kills, ...this.starting.keys()]);
  }
}
