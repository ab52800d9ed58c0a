import type { Event } from '../base/event';
import type { Log } from '../base/log';
import type { CodeSource, InterruptVerdict } from '../kernel/execution';
import type { KernelOutput } from '../kernel/output';
import type { RunOrigin } from '../pool/types';
import type { Lease } from './lease';

/** Pieces of output in order. A bare string is stdout text. */
export type OnOutput = (output: KernelOutput | string) => void;

/** How the code of a background run ended. */
export interface BackgroundOutcome {
  /** All that it printed, where that is known better than by the pieces. */
  readonly stdout?: string | undefined;
  /** What the code raised, as a person should see it. */
  readonly error?: string | undefined;
  readonly interrupted?: boolean | undefined;
}

/** A kernel of a background run's own. */
export interface BackgroundKernel {
  execute(code: string, options: { readonly onOutput: OnOutput }): Promise<BackgroundOutcome>;
  /** Sends one interrupt. Without a verdict nothing is claimed of it. */
  interrupt(): Promise<InterruptVerdict | undefined>;
  /** Resolves when its exit is confirmed; rejects where it is not. */
  kill(): Promise<void>;
  /** As `kill`. Called once. */
  shutdown(): Promise<void>;
}

export interface LaunchOptions {
  /** Whose end ends the run. */
  readonly ownerId?: string;
  /** For people: who that is, where it is not the person at this window. */
  readonly ownerName?: string;
  readonly origin?: RunOrigin;
  readonly language?: string;
  readonly cwd?: string;
  readonly interpreter?: string;
  /** For people. */
  readonly label?: string;
  readonly source?: CodeSource;
  /** Keeps the run out of the agent's context. */
  readonly excludeFromContext?: boolean;
}

/** A run as it was asked for. Plain data. */
export interface BackgroundRequest extends LaunchOptions {
  readonly executionId: string;
  readonly code: string;
  /** ms since the epoch. */
  readonly startedAt: number;
}

export interface BackgroundStart {
  readonly request: BackgroundRequest;
  /** Aborted when the run is stopped before its kernel is there. */
  readonly signal: AbortSignal;
}

/** Takes a run's whole output, in order, and keeps it on disk. What it throws ends it, and not the run. */
export interface OutputArtifact {
  /** Absolute. */
  readonly path: string;
  write(output: KernelOutput | string): void;
  /** Resolves when all is written. */
  close(): Promise<void>;
}

/** What a window must know to take a run up again after a reload. */
export interface BackgroundRecord {
  readonly request: BackgroundRequest;
  /** `running`: its code may have been sent. */
  readonly phase: 'starting' | 'running';
}

export type BackgroundStatus = 'running' | 'done' | 'failed' | 'interrupted';

/** Plain data. Times are ms since the epoch. */
export interface BackgroundSnapshot {
  readonly executionId: string;
  readonly status: BackgroundStatus;
  /** The run, its kernel's clean-up and the release of its lease are all over. */
  readonly done: boolean;
  /** The first 1,000,000 characters of what it printed, then one mark. */
  readonly stdout: string;
  readonly interrupted: boolean;
  readonly error: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly request: BackgroundRequest;
  /** While it is not done. */
  readonly phase?: 'starting' | 'executing' | 'cleaningUp';
  /** Its kernel had to be killed. */
  readonly killed?: true;
  /** Path of the whole output. */
  readonly artifact?: string;
}

export interface BackgroundReport extends BackgroundSnapshot {
  /** For people: why the interrupt did not reach the kernel. Absent: nothing says that it did not. */
  readonly interruptUndelivered?: string;
}

/** A run of the window before this one. */
export interface EarlierBackgroundRun {
  readonly request: BackgroundRequest;
  readonly kernel: BackgroundKernel;
  /** Entered again before anything else is admitted. */
  readonly lease?: Lease;
  /** Stands in for `execute`: what it has printed so far, what it prints, and its end. */
  resume(options: { readonly onOutput: OnOutput }): Promise<BackgroundOutcome>;
}

export interface BackgroundRunsOptions {
  startKernel(start: BackgroundStart): Promise<BackgroundKernel>;
  enterLease?(request: BackgroundRequest): Lease | Promise<Lease>;
  /** Runs that are not done, at most. Default 16. */
  readonly maxRunning?: number;
  /** Runs that are done and kept at most; the oldest go first. Default 200. */
  readonly maxDone?: number;
  openArtifact?(request: BackgroundRequest): OutputArtifact;
  /** Told ahead of each effect; undefined: there is nothing to take up any more. */
  onRecord?(executionId: string, record: BackgroundRecord | undefined): void;
  /** Default: random. */
  newId?(): string;
  readonly log?: Pick<Log, 'warn' | 'error'>;
}

export interface BackgroundRuns {
  /**
   * Answers when the lease is entered and the kernel has started, not when the code is over. Rejects with `closed`,
   * with `too_many_runs`, with what the lease was refused for, or with what kept the kernel from starting.
   */
  launch(
    code: string,
    options?: LaunchOptions & { readonly executionId?: string },
  ): Promise<{ readonly executionId: string; readonly status: 'running' }>;
  /** Never waits. An id that is not known throws `run_not_found`, here and below. */
  peek(executionId: string): BackgroundSnapshot;
  /** Oldest first. */
  list(): readonly BackgroundSnapshot[];
  /** Interrupts once, and waits up to 5 s for the run to be done. One whose kernel still starts is called off. */
  interrupt(executionId: string): Promise<BackgroundReport>;
  /** Kills its kernel, and waits up to 5 s for the run to be done. */
  kill(executionId: string): Promise<BackgroundReport>;
  /**
   * Launches nothing any more, and ends all at once: interrupt, wait, kill, wait. Answers how many were not done. Each
   * wait lasts `timeoutPerRunMs` at most, 5,000 by default.
   */
  shutdown(options?: { readonly timeoutPerRunMs?: number }): Promise<number>;
  /** Ends an owner's runs in the same way. Rejects with `stop_unconfirmed` where one stays. */
  disposeOwner(ownerId: string): Promise<void>;
  /** Forgets a run that is done. */
  forget(executionId: string): void;
  /** Counts an earlier run as one of these, whether there is room or not. */
  takeUp(run: EarlierBackgroundRun): void;
  /** A run came, printed, changed or went. Told for each piece of output. */
  readonly onDidChange: Event<{ readonly executionId: string }>;
}
