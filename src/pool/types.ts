import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposable';
import type { Event } from '../base/event';
import type { Log } from '../base/log';
import type { WithheldNames } from '../kernel/environment';
import type { CodeSource, InputHandler, InterruptVerdict } from '../kernel/execution';
import type {
  PooledKernel,
  PreludeHelper,
  ShutdownOutcome,
  Silence,
  StopProgress,
} from '../kernel/kernel';
import type { KernelOutput, MimeBundle } from '../kernel/output';
import type { SessionIdentity } from './key';
import type { RunRecord, SessionRecord } from './records';
import type { PoolSettings, QueuePolicy } from './settings';

export interface StartRequest {
  readonly cwd: string;
  readonly sessionId: string;
  readonly interpreter?: string;
  /** The owner whose private session it is. */
  readonly privateTo?: string;
  /** The session's snapshot id and its incarnation, as in its record. Absent: a kernel of its own for one run. */
  readonly place?: { readonly id: string; readonly incarnation: number };
  /** Who holds it at this moment, a caller without an id by the session's. */
  readonly owners?: readonly string[];
  /** The pool's own signal: aborted when the session is disposed during its start, or at the start's limit. */
  readonly signal: AbortSignal;
}

export interface KernelPoolOptions {
  startKernel(request: StartRequest): Promise<PooledKernel>;
  /**
   * Called once when a start failed for want of resources, after the draining kernels have been let go of and before
   * the start is tried again.
   */
  recoverResources?(): Promise<void>;
  /** Retained kernels at most. Default 4. */
  readonly capacity?: number;
  /** Limit of an owner's clean-up in ms. Default 2,000. */
  readonly ownerCleanupMs?: number;
  /** Time to the next attempt of an unconfirmed stop in ms. Default 30,000. */
  readonly retryIntervalMs?: number;
  /** Limit of a kernel's start in ms, counted from the call of `startKernel`. Default 60,000. */
  readonly startTimeoutMs?: number;
  /** Text that a result gives back at most, in UTF-8 bytes. Default 50,000. */
  readonly maxOutputBytes?: number;
  /** Time without a request until a session that no window holds is stopped, in ms; 0: never. Default 1,800,000. */
  readonly idleExpiryMs?: number;
  /** Resident memory above which a kernel is recycled, in MiB; 0 or less: no cap. Default 1,024. */
  readonly memoryCapMb?: number;
  /** What becomes of an owner's queued runs when one of its runs fails. Default `continue`. */
  readonly queueOnError?: QueuePolicy;
  /** The same, when a person interrupts one. Default `continue`. */
  readonly queueOnInterrupt?: QueuePolicy;
  /** The last word on an eviction, asked for one candidate after the other. Default: yes. */
  mayEvict?(victim: SessionSnapshot, requester: WaiterSnapshot): boolean;
  /** What stands behind an owner. A session that a window holds neither expires nor is recycled. */
  ownerKind?(ownerId: string): OwnerKind | undefined;
  /**
   * What a session's prelude is, as any string that is equal for equal preludes (a hash of its files): the docs of its
   * helpers are kept by it. Default: the session id's namespace and the interpreter.
   */
  preludeContent?(session: SessionIdentity): string;
  /**
   * Told ahead of each effect what the pool is about to be in; undefined: the session is gone. Whoever keeps the latest
   * of each id can build the pool again with `adopt`.
   */
  onRecord?(id: string, record: SessionRecord | undefined): void;
  /** Sessions of an earlier pool, to be taken up at once. */
  readonly adopt?: readonly SessionRecord[];
  /** Of an earlier pool, with nothing left to adopt: whoever held one of these is told at the next run. */
  readonly lost?: readonly LostSession[];
  /** Finds the kernel of an adopted session; undefined: it is gone. */
  reattachKernel?(record: SessionRecord, signal: AbortSignal): Promise<PooledKernel | undefined>;
  /** What stands in for the caller of an adopted run, which died with the window. */
  adoptedCaller?(run: RunRecord, session: SessionRecord): AdoptedCaller;
  /** A run of an adopted session: one that had been sent, or one of a person's that still waits. */
  onAdoptedRun?(run: AdoptedRun): void;
  readonly clock?: Clock;
  readonly log?: Log;
}

export type AdoptedCaller = Pick<PoolExecuteOptions, 'signal' | 'onOutput' | 'onInput' | 'onStart'>;

interface AdoptedRun {
  /** The session's snapshot id. */
  readonly id: string;
  readonly executionId: string;
  readonly result: Promise<ExecutionResult>;
}

export type OwnerKind = 'window' | 'chat' | 'client' | 'extension';

/** Who asked for a run. Set by the host, never by the caller. */
export type RunOrigin = 'person' | 'tool' | 'api';

export interface PoolExecuteOptions {
  /** Canonical working directory; part of the session's key. */
  readonly cwd: string;
  readonly sessionId?: string;
  readonly ownerId?: string;
  /** `per-call`: a kernel of its own, started and stopped around this run. Default `session`. */
  readonly mode?: 'session' | 'per-call';
  /** Only when chosen explicitly; part of the session's key. */
  readonly interpreter?: string;
  /** Limit of the run, ms from the call. */
  readonly timeoutMs?: number;
  /** Limit of the run, ms since the epoch; beats `timeoutMs`. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  readonly reset?: boolean;
  readonly origin?: RunOrigin;
  /** Identifies the run in snapshots and for `interrupt`. Default: made by the pool. */
  readonly executionId?: string;
  /** Pieces of output in order, as the kernel gives them: a bare string is stdout text. */
  readonly onOutput?: (output: KernelOutput | string) => void;
  readonly onInput?: InputHandler;
  readonly source?: CodeSource;
  /** The run's turn has come: its code is about to be sent. */
  readonly onStart?: () => void;
}

export interface ExecutionResult {
  /** The last 50,000 bytes of text, cut at a line. */
  readonly output: string;
  /** 0 ok, 1 error, undefined when cancelled. */
  readonly exitCode: number | undefined;
  readonly cancelled: boolean;
  readonly truncated: boolean;
  /** Of the whole stream. Bytes are UTF-8. */
  readonly totalLines: number;
  readonly totalBytes: number;
  /** Of the returned text. */
  readonly outputLines: number;
  readonly outputBytes: number;
  /** In order of first emission; an update has replaced its display in place. */
  readonly displayOutputs: readonly DisplayOutput[];
  readonly stdinRequested: boolean;
  /** What Holdfast itself says in `output`, for whoever shows the run piece by piece: why the kernel is new, how it ended. */
  readonly notes?: readonly string[];
  /** Path of the full output on disk. */
  readonly artifact?: string;
}

export interface DisplayOutput {
  readonly data: MimeBundle;
  readonly metadata?: MimeBundle;
  readonly displayId?: string;
}

export interface WarmRequest {
  readonly cwd: string;
  readonly sessionId?: string;
  readonly ownerId?: string;
  readonly interpreter?: string;
}

export type WarmResult =
  | { readonly ok: true; readonly docs: readonly PreludeHelper[] }
  | { readonly ok: false; readonly reason: string };

export interface OwnerSnapshot {
  readonly id: string;
  /** `fallback`: the session's own id, until somebody holds it. `departed`: disposed, stop not confirmed yet. */
  readonly kind: 'explicit' | 'fallback' | 'departed';
}

export interface ExecutionSnapshot {
  readonly id: string;
  readonly ownerId: string | undefined;
  /** ms since the epoch: when it was asked for, and when its code was sent. */
  readonly queuedAt: number;
  readonly startedAt?: number;
  /** When it was told to stop. */
  readonly interruptedAt?: number;
  /** It was told to stop, and did not within 5 s: the next step is to kill the kernel. */
  readonly unheeded?: true;
  /** No code of a caller: a restart or a warm-up, which waits for the kernel or looks at its prelude. */
  readonly isPreparation?: true;
}

/** What a session is doing. Times are ms since the epoch. */
export type SessionStateSnapshot =
  | { readonly kind: 'starting'; readonly since: number }
  | { readonly kind: 'idle'; readonly since: number }
  | { readonly kind: 'busy'; readonly since: number; readonly execution: ExecutionSnapshot }
  | {
      readonly kind: 'stopping';
      readonly since: number;
      readonly attempt: number;
      readonly progress?: StopProgress;
      /** Only its kernel goes: the session stays, with a new one. */
      readonly startsAnew?: true;
    }
  | {
      readonly kind: 'stopUnconfirmed';
      readonly since: number;
      readonly attempt: number;
      readonly reason: string;
      readonly nextTryAt?: number;
      /** `key`: a run on its key takes it up again. `ownName`: it takes no code any more. */
      readonly place?: 'key' | 'ownName';
    }
  | { readonly kind: 'dead'; readonly since: number; readonly summary: string };

/** A session whose kernel is gone with its variables. */
export interface LostSession {
  readonly key: string;
  /** Owner ids. */
  readonly holders: readonly string[];
  /** For people, as in "it ended by itself". */
  readonly why: string;
}

/** Plain data: what the tree shows. */
export interface SessionSnapshot {
  /** Stable over the session's life, unique in the pool, also when its key was taken again. */
  readonly id: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly interpreter: string | undefined;
  readonly incarnation: number;
  readonly state: SessionStateSnapshot;
  readonly owners: readonly OwnerSnapshot[];
  readonly queue: readonly ExecutionSnapshot[];
  readonly pid: number | undefined;
  readonly description: string | undefined;
  readonly memoryBytes: number | undefined;
  /** When the start of its present kernel began; ms since the epoch. */
  readonly startedAt: number;
  /** It is above the memory cap, and a window holds it: a person decides. */
  readonly isAboveMemoryCap?: boolean;
  /** It is in use and does not answer: not responding, which is not dead. */
  readonly silence?: Silence;
  /** Present: it was started with a restricted environment, without these names. */
  readonly withheldEnvironment?: WithheldNames;
  /** A reset made it for this owner alone, beside the session that others go on sharing. */
  readonly privateTo?: string;
}

/** Somebody who waits for a slot: one place per key. */
export interface WaiterSnapshot {
  readonly sessionId: string;
  readonly cwd: string;
  readonly interpreter: string | undefined;
  readonly owners: readonly OwnerSnapshot[];
  /** ms since the epoch. */
  readonly since: number;
  readonly calls: readonly ExecutionSnapshot[];
}

export interface CapacitySnapshot {
  readonly capacity: number;
  /** Live and draining kernels and reserved starts. */
  readonly counted: number;
  /** First come, first served. */
  readonly waiting: readonly WaiterSnapshot[];
}

export interface KernelPool {
  /** Runs code. Rejects on failures that are not cancellations (a start that fails, a broken contract). */
  execute(code: string, options: PoolExecuteOptions): Promise<ExecutionResult>;
  warm(request: WarmRequest): Promise<WarmResult>;
  /** Detaches the owner everywhere and stops what nobody else holds. Resolves when that is confirmed, or at the clean-up limit. */
  disposeOwner(ownerId: string): Promise<void>;
  disposeAll(): Promise<void>;
  sessions(): readonly SessionSnapshot[];
  /** Who waits for a slot; who holds them is in `sessions()`. */
  capacity(): CapacitySnapshot;
  /** Told once per turn of the event loop's microtasks, however much has changed. */
  onDidChangeSessions(listener: () => void): Disposable;

  // What a person does to one session, by the id in its snapshot. An id that is gone rejects with `kernel_not_found`.

  /** Interrupts what runs now; with an execution id only that one. Queued runs go on. */
  interrupt(id: string, executionId?: string): Promise<InterruptVerdict>;
  /** Stops the kernel (queued runs are cancelled) and starts a new one once the old exit is confirmed. Owners stay. */
  restart(id: string): Promise<void>;
  /** SIGKILL. Owners and record stay until the exit is confirmed. */
  kill(id: string): Promise<ShutdownOutcome>;
  /** Lets go for one owner of this session alone, as `disposeOwner` does of all. */
  releaseOwner(id: string, ownerId: string): Promise<void>;
  /** Stops it whoever holds it. Its owners are told on their next result. Resolves when the attempt is over. */
  stop(id: string): Promise<ShutdownOutcome>;
  /** Tries an unconfirmed stop again without waiting for its time; joins one that is under way. */
  retryNow(id: string): Promise<ShutdownOutcome>;
  /**
   * Frees the slot of a kernel that is on its way out, without evidence of its exit: it may be running on. Rejects with
   * `bad_input` for a session that is not on its way out.
   */
  forget(id: string): Promise<void>;
  /**
   * The end of what the kernel's process wrote on descriptor 2 itself, also of one that has ended and is still shown; `''`
   * before its start. Rejects when it cannot be asked.
   */
  stderr(id: string): Promise<string>;
  /** Changes settings from here on; what is absent stays as it is. */
  configure(settings: Partial<PoolSettings>): void;
  /** Output of a run after its end (a thread's), or of no run (`executionId` undefined). */
  readonly onDidLateOutput: Event<LateOutput>;
}

export interface LateOutput {
  /** The session's snapshot id. */
  readonly id: string;
  readonly executionId: string | undefined;
  readonly output: KernelOutput;
}
