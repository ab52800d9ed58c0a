import { deferred } from '../base/deferred';
import { messageOf } from '../base/errors';
import type { PooledKernel } from '../kernel/kernel';
import type { Call, CallPlace, Turn } from './call';
import type { SessionIdentity } from './key';
import { verdictOfNotRun, type NotRunCause } from './outcome';
import type { ExecutionSnapshot } from './types';

/** What became of a call that has no code of its own. */
export type ReadyEnd<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** Waits for a kernel to be up and free, and does one thing with it. */
export class ReadyCall<T> implements Call {
  readonly runsCode = false;
  readonly deadlineAt = undefined;
  readonly wantsReset = false;
  place: CallPlace | undefined;
  freshFrom: number | undefined;
  private readonly over = deferred<ReadyEnd<T>>();

  constructor(
    readonly identity: SessionIdentity,
    readonly ownerId: string | undefined,
    readonly executionId: string,
    private readonly queuedAt: number,
    readonly needsSlotNow: boolean,
    private readonly work: (kernel: PooledKernel) => Promise<T>,
  ) {}

  /** Never rejects. */
  get end(): Promise<ReadyEnd<T>> {
    return this.over.promise;
  }

  snapshot(): ExecutionSnapshot {
    return { id: this.executionId, ownerId: this.ownerId, queuedAt: this.queuedAt };
  }

  record(): undefined {}

  perform(kernel: PooledKernel, turn: Turn): void {
    this.work(kernel).then(
      (value) => {
        this.over.resolve({ ok: true, value });
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

/** The reason of a failed one, for people. */
export function reasonOf(end: { readonly error: unknown }): string {
  return messageOf(end.error);
}
