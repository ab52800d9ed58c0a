import { deferred, type Deferred } from '../../src/base/deferred';
import type { ExecuteOptions, ExecutionReply } from '../../src/kernel/execution';
import type { PooledKernel, PreludeHelper, ShutdownOutcome } from '../../src/kernel/kernel';
import type { StartRequest } from '../../src/pool/types';

/** What a fake's shutdown does when it is called. */
export type ShutdownPlan =
  'confirm' | 'unconfirmed' | 'hang' | { readonly reject: Error; readonly afterMs?: number };

/** Whether an execution is answered at once, or when a test says so. */
export type ExecutePlan = 'ok' | 'hang' | 'heedAbort';

export const okReply: ExecutionReply = {
  status: 'ok',
  cancelled: false,
  timedOut: false,
  stdinRequested: false,
};

export const interruptedReply: ExecutionReply = { ...okReply, status: 'error', cancelled: true };

export interface FakeExecution {
  readonly code: string;
  readonly options: ExecuteOptions;
  readonly reply: Deferred<ExecutionReply>;
  answered: boolean;
}

/** A kernel with nothing but what the pool's contract requires, played by a test. */
export class FakeKernel implements PooledKernel {
  alive = true;
  readonly executions: FakeExecution[] = [];
  /** Arguments of each call of shutdown. */
  readonly shutdowns: ({ timeoutMs: number } | undefined)[] = [];
  readonly pending: Deferred<ShutdownOutcome>[] = [];
  shutdownPlans: ShutdownPlan[] = [];
  shutdownPlan: ShutdownPlan = 'confirm';
  executePlan: ExecutePlan = 'ok';
  introspections = 0;
  introspectPrelude?: () => Promise<readonly PreludeHelper[]>;
  isStopping?: () => boolean;
  kill?: () => Promise<ShutdownOutcome>;
  resume?: (options: ExecuteOptions) => Promise<ExecutionReply>;

  constructor(readonly request: StartRequest) {}

  /** Number of shutdown calls. */
  get sd(): number {
    return this.shutdowns.length;
  }

  get codes(): readonly string[] {
    return this.executions.map(({ code }) => code);
  }

  get unanswered(): readonly FakeExecution[] {
    return this.executions.filter(({ answered }) => !answered);
  }

  isAlive(): boolean {
    return this.alive;
  }

  execute(code: string, options: ExecuteOptions): Promise<ExecutionReply> {
    const reply = deferred<ExecutionReply>();
    const execution: FakeExecution = { code, options, reply, answered: false };
    this.executions.push(execution);
    if (this.executePlan === 'ok') answer(execution, okReply);
    if (this.executePlan === 'heedAbort') {
      options.signal.addEventListener('abort', () => answer(execution, interruptedReply));
    }
    return reply.promise;
  }

  shutdown(...args: [options?: { timeoutMs: number }]): Promise<ShutdownOutcome> {
    this.shutdowns.push(args[0]);
    const outcome = deferred<ShutdownOutcome>();
    const plan = this.shutdownPlans.shift() ?? this.shutdownPlan;
    if (plan === 'confirm') this.confirmWith(outcome);
    else if (plan === 'unconfirmed') outcome.resolve({ confirmed: false });
    else if (plan === 'hang') this.pending.push(outcome);
    else if (plan.afterMs === undefined) outcome.reject(plan.reject);
    else setTimeout(() => outcome.reject(plan.reject), plan.afterMs);
    return outcome.promise;
  }

  /** Lets the hanging shutdowns confirm, and those to come. */
  confirm(): void {
    this.shutdownPlan = 'confirm';
    for (const outcome of this.pending.splice(0)) this.confirmWith(outcome);
  }

  /** Lets the hanging shutdowns answer that nothing is known. */
  leaveUnconfirmed(): void {
    for (const outcome of this.pending.splice(0)) outcome.resolve({ confirmed: false });
  }

  /** Answers the execution that hangs longest. */
  finish(reply: ExecutionReply = okReply): void {
    const [first] = this.unanswered;
    if (!first) throw new Error('Nothing runs on this kernel.');
    answer(first, reply);
  }

  /** Ends by itself, under whatever runs. */
  die(): void {
    this.alive = false;
    for (const execution of this.unanswered) answer(execution, interruptedReply);
  }

  private confirmWith(outcome: Deferred<ShutdownOutcome>): void {
    this.alive = false;
    outcome.resolve({ confirmed: true });
  }
}

function answer(execution: FakeExecution, reply: ExecutionReply): void {
  execution.answered = true;
  execution.reply.resolve(reply);
}

/** Starts fakes, and remembers them in order. */
export class FakeKernels {
  readonly all: FakeKernel[] = [];
  readonly requests: StartRequest[] = [];
  /** Prepares each kernel before the pool gets it. May throw, to fail the start. */
  prepare: (kernel: FakeKernel, index: number) => void | Promise<void> = () => {};

  get starts(): number {
    return this.requests.length;
  }

  readonly start = async (request: StartRequest): Promise<FakeKernel> => {
    const index = this.requests.push(request) - 1;
    const kernel = new FakeKernel(request);
    await this.prepare(kernel, index);
    this.all.push(kernel);
    return kernel;
  };

  at(index: number): FakeKernel {
    const kernel = this.all[index];
    if (!kernel) throw new Error(`Only ${this.all.length} kernels have started.`);
    return kernel;
  }
}
