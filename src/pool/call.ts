import type { PooledKernel } from '../kernel/kernel';
import type { KernelOutput } from '../kernel/output';
import type { SessionIdentity } from './key';
import type { NotRunCause } from './outcome';
import type { RunRecord } from './records';
import type { ExecutionSnapshot } from './types';

/** Where a call waits; told when the call goes away by itself. */
export interface CallPlace {
  /** What the call waits for, in half a sentence, where that is not simply its turn. */
  waitingFor(): string | undefined;
  leave(call: Call): void;
}

/** What a session tells a call whose turn has come. */
export interface Turn {
  /** Why the kernel is another than the one that this caller knew, if it is. */
  readonly news: readonly string[];
  onLateOutput(output: KernelOutput): void;
  /** The call was told to stop, or seen not to heed it: views may show it. */
  onChange(): void;
  /** The call passed its own limit and does not heed it: stops the kernel. Resolves when that was tried; never rejects. */
  stopKernel(): Promise<void>;
  /** The kernel is free for the next call. Called exactly once. */
  onFree(end: TurnEnd): void;
}

export interface TurnEnd {
  /** `interrupted`: by a person; `cancelled`: by a limit of its own, or with its kernel. */
  readonly outcome: 'ok' | 'error' | 'interrupted' | 'cancelled';
  /** Where the code left the kernel, if it says so. */
  readonly cwd?: string;
}

/** A caller that wants one turn on a session's kernel. It settles exactly once. */
export interface Call {
  /** It runs a caller's code, and does not only look at the kernel. */
  readonly runsCode: boolean;
  readonly executionId: string;
  readonly ownerId: string | undefined;
  readonly identity: SessionIdentity;
  /** Since the epoch, in ms. */
  readonly deadlineAt: number | undefined;
  readonly wantsReset: boolean;
  /** False: all that it wants is that a kernel is there. */
  readonly needsTurn: boolean;
  /** It fails rather than wait for a slot, where the kernel that it wants replaced keeps its own. */
  readonly needsSlotNow: boolean;
  /** Set by whoever holds it while it waits. */
  place: CallPlace | undefined;
  /** A reset is satisfied by an incarnation from this number on. Set when it first joins a session. */
  freshFrom: number | undefined;
  snapshot(): ExecutionSnapshot;
  /** What survives a reload of it; undefined: nothing. */
  record(isUnsent: boolean): RunRecord | undefined;

  /** The kernel is there, which is all that a call without a turn waits for. */
  ready(): void;
  /** Its turn. Never throws; the end comes by `turn.onFree`. */
  perform(kernel: PooledKernel, turn: Turn): void;
  /** Ends it before its turn. */
  notRun(cause: NotRunCause): void;
  /** Ends it before its turn, because its own deadline has passed. */
  timeOut(): void;
  fail(error: unknown): void;
  /** During its turn: a person interrupts it, by `bySignal` where the kernel offers nothing better. */
  interrupt(bySignal: boolean): void;
  /** During its turn: the kernel is gone, and no answer will come. `cause`: a sentence, for people. */
  kernelGone(cause: string): void;
}
