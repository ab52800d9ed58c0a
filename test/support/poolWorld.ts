import { deferred, type Deferred } from '../../src/base/deferred';
import type { ExecuteOptions, ExecutionReply } from '../../src/kernel/execution';
import type { PooledKernel, ShutdownOutcome } from '../../src/kernel/kernel';
import { HEED_WITHIN_MS } from '../../src/pool/interruption';
import { createKernelPool } from '../../src/pool/pool';
import type {
  ExecutionResult,
  KernelPool,
  SessionSnapshot,
  StartRequest,
  WaiterSnapshot,
} from '../../src/pool/types';
import { flush, ManualClock } from './manualClock';
import { OwnerModel } from './ownerModel';

export const CAPACITY = 3;

export type Action =
  | {
      readonly do: 'run';
      readonly owner: string | undefined;
      readonly key: string;
      readonly timeoutMs: number | undefined;
    }
  | { readonly do: 'warm'; readonly owner: string | undefined; readonly key: string }
  | { readonly do: 'disposeOwner'; readonly owner: string }
  | { readonly do: 'disposeAll' }
  | { readonly do: 'abort'; readonly pick: number }
  | { readonly do: 'answerRun'; readonly pick: number; readonly how: 'ok' | 'error' | 'reject' }
  | { readonly do: 'die'; readonly pick: number }
  | {
      readonly do: 'answerStop';
      readonly pick: number;
      readonly how: 'confirm' | 'unconfirmed' | 'reject';
    }
  | { readonly do: 'answerStart'; readonly pick: number; readonly how: 'ok' | 'fail' | 'EMFILE' }
  | { readonly do: 'advance'; readonly ms: number };

interface Run {
  readonly number: number;
  readonly key: string;
  readonly abort: AbortController;
  readonly deadlineAt: number | undefined;
  executed: number;
  end: 'pending' | 'failed' | ExecutionResult;
}

interface PendingStart {
  readonly request: StartRequest;
  readonly answer: Deferred<PooledKernel>;
}

const ok: ExecutionReply = {
  status: 'ok',
  cancelled: false,
  timedOut: false,
  stdinRequested: false,
};

/** A kernel whose every answer the test gives; it checks what it is asked. */
class ModelKernel implements PooledKernel {
  hasExited = false;
  readonly runs: { readonly run: Run | undefined; readonly answer: Deferred<ExecutionReply> }[] =
    [];
  stop: Deferred<ShutdownOutcome> | undefined;
  /** Its run had passed its own limit and ignored the signal when it was first stopped. */
  wasStuck = false;

  constructor(
    private readonly world: PoolWorld,
    readonly pid: number,
  ) {}

  isAlive(): boolean {
    return !this.hasExited;
  }

  execute(code: string, _: ExecuteOptions): Promise<ExecutionReply> {
    const { world } = this;
    const run = world.runs[Number(code)];
    world.check(run !== undefined, 'only code that was asked for is sent');
    world.check(this.runs.length === 0, 'one execution at a time');
    world.check(this.stop === undefined, 'nothing is sent to a kernel that is being stopped');
    world.check(!this.hasExited, 'nothing is sent to a dead kernel');
    if (run) {
      run.executed++;
      world.check(run.executed === 1, 'code is never sent twice');
      world.check(run.end === 'pending', 'code of a call that has ended is not sent');
      world.sent(run.key, run.number);
    }
    const answer = deferred<ExecutionReply>();
    this.runs.push({ run, answer });
    return answer.promise;
  }

  shutdown(): Promise<ShutdownOutcome> {
    this.world.check(this.stop === undefined, 'one stop attempt at a time');
    this.stop = deferred();
    const heedBefore = this.world.clock.now() - HEED_WITHIN_MS;
    this.wasStuck ||= this.runs.some(({ run }) => (run?.deadlineAt ?? Infinity) <= heedBefore);
    return this.stop.promise;
  }

  die(): void {
    this.hasExited = true;
    for (const { answer } of this.runs.splice(0)) answer.resolve({ ...ok, cancelled: true });
  }

  answerStop(how: 'confirm' | 'unconfirmed' | 'reject'): void {
    const { stop } = this;
    this.stop = undefined;
    if (how === 'confirm') this.die();
    if (how === 'reject') stop?.reject(new Error('The stop failed.'));
    else stop?.resolve({ confirmed: how === 'confirm' });
  }
}

/** A pool with everything around it played by the test, and the promises that must hold after each step. */
export class PoolWorld {
  readonly clock = new ManualClock();
  readonly runs: Run[] = [];
  readonly kernels: ModelKernel[] = [];
  readonly violations: string[] = [];
  private readonly starts: PendingStart[] = [];
  private readonly disposals: { isOver: boolean }[] = [];
  private readonly warmUps: { isOver: boolean }[] = [];
  /** Let go of by a recovery: they may live on without a record. */
  private readonly forgotten = new Set<ModelKernel>();
  private readonly lastSent = new Map<string, number>();
  private readonly owners = new OwnerModel();
  private waiting: readonly WaiterSnapshot[] = [];
  private readonly pool: KernelPool;

  constructor() {
    this.pool = createKernelPool({
      capacity: CAPACITY,
      clock: this.clock,
      idleExpiryMs: 0,
      startKernel: (request) => {
        const answer = deferred<PooledKernel>();
        this.starts.push({ request, answer });
        return answer.promise;
      },
      recoverResources: () => {
        const recorded = this.recordedPids();
        for (const kernel of this.kernels)
          if (!recorded.has(kernel.pid)) this.forgotten.add(kernel);
        return Promise.resolve();
      },
    });
  }

  check(holds: boolean, promise: string): void {
    if (!holds) this.violations.push(promise);
  }

  sent(key: string, number: number): void {
    this.check((this.lastSent.get(key) ?? -1) < number, 'runs of one key keep their order');
    this.lastSent.set(key, number);
  }

  async step(action: Action): Promise<void> {
    await this.perform(action);
    await this.settle();
  }

  private async settle(): Promise<void> {
    await flush();
    this.observe();
  }

  /** Everything that hangs gets its answer, and time passes: nothing may be left. */
  async finish(): Promise<void> {
    for (let round = 0; round < 60 && !this.isQuiet(); round++) {
      for (const start of this.starts.splice(0)) this.answerStart(start, 'ok');
      await this.settle();
      for (const kernel of this.kernels) {
        for (const { answer } of kernel.runs.splice(0)) answer.resolve(ok);
        if (kernel.stop) kernel.answerStop('confirm');
      }
      await this.settle();
      if (this.starts.length === 0) await this.clock.advance(30_000);
      await this.settle();
    }
    this.check(
      this.runs.every(({ end }) => end !== 'pending'),
      'every run settles',
    );
    this.check(
      this.warmUps.every(({ isOver }) => isOver),
      'every warm-up settles',
    );
    this.check(
      this.disposals.every(({ isOver }) => isOver),
      'every disposal settles',
    );
    await this.step({ do: 'disposeAll' });
    for (const kernel of this.kernels) if (kernel.stop) kernel.answerStop('confirm');
    await this.settle();
    this.check(this.pool.sessions().length === 0, 'a confirmed global disposal leaves nothing');
    this.check(
      this.kernels.every((kernel) => kernel.hasExited || this.forgotten.has(kernel)),
      'no kernel outlives the global disposal',
    );
  }

  private isQuiet(): boolean {
    const hangs = this.kernels.some(
      (kernel) => kernel.stop !== undefined || kernel.runs.length > 0,
    );
    return this.starts.length === 0 && !hangs && this.runs.every(({ end }) => end !== 'pending');
  }

  private async perform(action: Action): Promise<void> {
    switch (action.do) {
      case 'run':
        this.startRun(action);
        return;
      case 'warm': {
        const before = this.pool.sessions();
        this.warmUps.push(
          over(this.pool.warm({ cwd: '/w', sessionId: action.key, ...ownerOf(action.owner) })),
        );
        this.owners.attached(action.key, action.owner, this.pool, before);
        return;
      }
      case 'disposeOwner': {
        const before = this.pool.sessions();
        this.disposals.push(over(this.pool.disposeOwner(action.owner)));
        this.owners.disposed(action.owner, before, this.pool);
        return;
      }
      case 'disposeAll': {
        const before = this.pool.sessions();
        this.disposals.push(over(this.pool.disposeAll()));
        this.owners.disposedAll(before, this.pool);
        return;
      }
      case 'abort': {
        const pending = this.runs.filter(({ end }) => end === 'pending');
        pick(pending, action.pick)?.abort.abort();
        return;
      }
      case 'answerRun': {
        const busy = this.kernels.filter((kernel) => kernel.runs.length > 0);
        const answer = pick(busy, action.pick)?.runs.shift()?.answer;
        if (action.how === 'reject') answer?.reject(new Error('The kernel failed.'));
        else answer?.resolve({ ...ok, status: action.how });
        return;
      }
      case 'die':
        pick(
          this.kernels.filter((kernel) => !kernel.hasExited),
          action.pick,
        )?.die();
        return;
      case 'answerStop': {
        const stopping = this.kernels.filter((kernel) => kernel.stop !== undefined);
        pick(stopping, action.pick)?.answerStop(action.how);
        return;
      }
      case 'answerStart': {
        const [start] = this.starts.splice(action.pick % Math.max(1, this.starts.length), 1);
        if (start) this.answerStart(start, action.how);
        return;
      }
      case 'advance':
        await this.clock.advance(action.ms);
        return;
    }
  }

  private startRun({ owner, key, timeoutMs }: Extract<Action, { do: 'run' }>): void {
    const abort = new AbortController();
    const now = this.clock.now();
    const run: Run = {
      number: this.runs.length,
      key,
      abort,
      deadlineAt: timeoutMs === undefined ? undefined : now + timeoutMs,
      executed: 0,
      end: 'pending',
    };
    this.runs.push(run);
    this.pool
      .execute(String(run.number), {
        cwd: '/w',
        sessionId: key,
        signal: abort.signal,
        ...ownerOf(owner),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      })
      .then(
        (result) => (run.end = result),
        () => (run.end = 'failed'),
      );
    this.owners.attached(key, owner, this.pool);
  }

  private answerStart({ answer }: PendingStart, how: 'ok' | 'fail' | 'EMFILE'): void {
    if (how === 'ok') {
      const kernel = new ModelKernel(this, this.kernels.length + 1);
      this.kernels.push(kernel);
      answer.resolve(kernel);
    } else if (how === 'fail') answer.reject(new Error('The start failed.'));
    else answer.reject(Object.assign(new Error('spawn'), { code: 'EMFILE' }));
  }

  private recordedPids(): ReadonlySet<number | undefined> {
    return new Set(this.pool.sessions().map(({ pid }) => pid));
  }

  private observe(): void {
    const sessions = this.pool.sessions();
    const { counted, waiting } = this.pool.capacity();
    this.check(counted <= CAPACITY, 'never more counted than there are slots');
    this.check(counted === sessions.length, 'what is counted is shown');
    const recorded = this.recordedPids();
    for (const kernel of this.kernels) {
      this.check(
        kernel.hasExited ||
          recorded.has(kernel.pid) ||
          this.forgotten.has(kernel) ||
          kernel.stop !== undefined,
        'no kernel without a record',
      );
    }
    this.checkLine(waiting);
    this.checkRuns();
    this.checkEvictions(sessions);
    this.owners.observe(sessions, waiting, this.clock.now(), (holds, promise) =>
      this.check(holds, promise),
    );
  }

  private checkLine(waiting: readonly WaiterSnapshot[]): void {
    const before = this.waiting.map(({ sessionId, since }) => `${sessionId} ${since}`);
    const now = waiting.map(({ sessionId, since }) => `${sessionId} ${since}`);
    const stayed = before.filter((place) => now.includes(place));
    this.check(
      stayed.every((place, at) => now[at] === place),
      'the line for a slot keeps its order',
    );
    this.check(
      new Set(waiting.map(({ sessionId }) => sessionId)).size === waiting.length,
      'one place per key',
    );
    this.waiting = waiting;
  }

  private checkRuns(): void {
    for (const { end, abort, deadlineAt } of this.runs) {
      if (end !== 'pending') continue;
      this.check(!abort.signal.aborted, 'an aborted call settles');
      this.check(
        deadlineAt === undefined || deadlineAt > this.clock.now(),
        'a call settles at its deadline',
      );
    }
  }

  private checkEvictions(sessions: readonly SessionSnapshot[]): void {
    const byPid = new Map(sessions.map((session) => [session.pid, session]));
    let evicted = 0;
    for (const kernel of this.kernels) {
      const session = byPid.get(kernel.pid);
      if (!kernel.stop || kernel.hasExited || !session) continue;
      const isHeld = session.owners.some(({ kind }) => kind !== 'departed');
      if (!isHeld || kernel.wasStuck) continue;
      evicted++;
      this.check(kernel.runs.length === 0, 'a busy session that somebody holds is not stopped');
    }
    this.check(evicted <= 1, 'one eviction at a time');
  }
}

function ownerOf(owner: string | undefined): { ownerId?: string } {
  return owner === undefined ? {} : { ownerId: owner };
}

function pick<T>(items: readonly T[], number: number): T | undefined {
  return items[number % Math.max(1, items.length)];
}

function over(promise: Promise<unknown>): { isOver: boolean } {
  const watched = { isOver: false };
  promise.then(
    () => (watched.isOver = true),
    () => (watched.isOver = true),
  );
  return watched;
}
