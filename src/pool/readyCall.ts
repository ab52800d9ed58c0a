import { deferred } from '../base/deferred';
import type { PooledKernel } from '../kernel/kernel';
import type { Call, CallPlace, Turn } from './call';
import type { SessionIdentity } from './key';
import { verdictOfNotRun, type NotRunCause } from './outcome';
import type { ExecutionSnapshot } from './types';

/** What became of a call that has no code of its own. */
type ReadyEnd = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

/** Waits for a kernel to be up; with `work`, for it to be free too, to do one thing with it. */
export class ReadyCall implements Call {
  readonly runsCode = false;
  readonly needsTurn: boolean;
  readonly deadlineAt = undefined;
  readonly wantsReset = false;
  place: CallPlace | undefined;
  freshFrom: number | undefined;
  private readonly over = deferred<ReadyEnd>();

  constructor(
    readonly identity: SessionIdentity,
    readonly ownerId: string | undefined,
    readonly executionId: string,
    private readonly queuedAt: number,
    readonly needsSlotNow: boolean,
    private readonly work?: (kernel: PooledKernel) => Promise<void>,
  ) {
    this.needsTurn = work !== undefined;
  }

  /** Never rejects. */
  get end(): Promise<ReadyEnd> {
    return this.over.promise;
  }

  snapshot(): ExecutionSnapshot {
    const { executionId: id, ownerId, queuedAt } = this;
    return { id, ownerId, queuedAt, isPreparation: true };
  }

  record(): undefined {}

  ready(): void {
    this.over.resolve({ ok: true });
  }

  perform(kernel: PooledKernel, turn: Turn): void {
    const work = this.work?.(kernel) ?? Promise.resolve();
    work.then(
      () => {
        this.ready();
        turn.onFree({ outcome: 'ok' });
      },
      (error: unknown) => {
        this.fail(error);
        turn.onFree({ outcome: 'ok' });
      },
    );
  }

  notRun(cause: NotRunCause): void {
    this.fail(new Error(verdictOfNotRun(cause).note ?? 'The session was let go of.'));
  }

  timeOut(): void {}

  fail(error: unknown): void {
    this.over.resolve({ ok: false, error });
  }

  interrupt(): void {}

  kernelGone(cause: string): void {
    this.fail(new Error(cause));
  }
}
