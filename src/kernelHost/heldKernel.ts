import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposable';
import { HoldfastError } from '../base/errors';
import type { ExecutionReply } from '../kernel/execution';
import type { KernelOutput } from '../kernel/output';
import type { HistoryEntry } from '../protocol/vocabulary';
import type { StartSpec } from './custody';
import type { EmbeddedKernel } from './embedded/kernel';
import type { RunRequest } from './embedded/run';
import type { StartedKernel } from './embedded/start';
import type { History } from './history';
import type { Outbox } from './outbox';

/** Replies that a client may not have got before it went. */
const REPLIES = 16;

/** One kernel in custody, from its reserved start on, with all that another client needs to take it up. */
export class HeldKernel implements Disposable {
  private readonly leaving = new AbortController();
  private readonly replies = new Map<string, Promise<ExecutionReply>>();
  private starting: Promise<StartedKernel> | undefined;
  private started: StartedKernel | undefined;

  constructor(
    readonly spec: StartSpec,
    readonly outbox: Outbox,
    private readonly history: History,
    private readonly clock: Clock,
  ) {}

  /** undefined while it starts. */
  get kernel(): EmbeddedKernel | undefined {
    return this.started?.kernel;
  }

  async start(start: (signal: AbortSignal) => Promise<StartedKernel>): Promise<StartedKernel> {
    this.starting = start(this.leaving.signal);
    this.started = await this.starting;
    return this.started;
  }

  /** The start that was called off, where there is one under way. */
  callOffStart(): Promise<unknown> | undefined {
    if (this.started !== undefined) return undefined;
    this.leaving.abort();
    return this.starting;
  }

  push(executionId: string | null, output: KernelOutput): void {
    this.history.push(this.spec.kernelId, executionId, output);
    this.outbox.push(executionId, output);
  }

  /** Resolves when it has run; all its output has been handed to the outbox and sent on. */
  execute(request: RunRequest): Promise<ExecutionReply> {
    const { kernel } = this;
    if (kernel === undefined) throw new HoldfastError('kernel_not_found', 'This kernel starts.');
    const { executionId } = request;
    this.history.begun(this.spec.kernelId, request, this.clock.now());
    const reply = kernel.execute(request).then((end) => {
      this.outbox.flush();
      this.history.finished(this.spec.kernelId, executionId, end, this.clock.now());
      return end;
    });
    this.replies.set(executionId, reply);
    const [oldest] = this.replies.keys();
    if (this.replies.size > REPLIES && oldest !== undefined) this.replies.delete(oldest);
    return reply;
  }

  /** The end of an execution that another client had asked for. */
  reply(executionId: string): Promise<ExecutionReply> {
    const reply = this.replies.get(executionId);
    if (reply !== undefined) return reply;
    throw new HoldfastError('kernel_not_found', 'This kernel has not been asked to run that.');
  }

  /** Takes it up: what is in the history from `after` on, and from this moment on it sends again. */
  async open(
    after: number,
  ): Promise<{ readonly started: StartedKernel; readonly entries: readonly HistoryEntry[] }> {
    const started = this.started ?? (await this.starting);
    if (started === undefined) throw new HoldfastError('kernel_not_found', 'It never started.');
    // One step: what came before is in the entries, what comes after is sent.
    const entries = this.history.read(after, after === 0 ? undefined : this.spec.kernelId);
    this.outbox.unpark();
    return { started, entries };
  }

  dispose(): void {
    this.outbox.dispose();
  }
}
