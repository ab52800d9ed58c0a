import type { Event } from '../base/event';
import type { WithheldNames } from './environment';
import type { ExecuteOptions, ExecutionReply, InterruptVerdict } from './execution';
import type { KernelOutput } from './output';

/** Evidence of how a kernel's process ended. */
export interface KernelExit {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  /** Signal name (`SIGKILL`); null when it exited by itself. */
  readonly signal: string | null;
  /** Last lines of its stderr, for people; may be empty. */
  readonly stderrTail: string;
  /** In one sentence, for people: what happened, and what is known of why. */
  readonly summary: string;
}

/** A step of a stop, told while it runs. Times are milliseconds since the epoch. */
export interface StopProgress {
  readonly step: 'ask' | 'interrupt' | 'terminate' | 'kill' | 'sweep';
  readonly startedAt: number;
  /** When the next step begins, if this one is not heeded. */
  readonly deadline: number;
}

export interface ShutdownOptions {
  /** The whole ladder's limit, counted from the call; the kill is sent 500 ms before. */
  readonly timeoutMs: number;
}

export interface ShutdownOutcome {
  /** The leader's exit was observed. A passed deadline or a closed socket is not evidence. */
  readonly confirmed: boolean;
  /** For people: why it is not confirmed, or which processes outlived the kernel. */
  readonly reason?: string;
}

/**
 * Somebody on the way does not answer: the kernel itself, or what holds it. It is a fact about answers, not about life:
 * only an exit means dead.
 */
export interface Silence {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly of: 'kernel' | 'kernelHost';
}

/** A helper of the user's prelude, as introspected in the kernel. */
export interface PreludeHelper {
  readonly name: string;
  readonly signature: string;
  /** First line of the docstring. */
  readonly docstring: string;
  readonly category: string;
}

/** What the pool needs of a kernel. Everything optional may be missing: the pool works with just the rest. */
export interface PooledKernel {
  isAlive(): boolean;
  execute(code: string, options: ExecuteOptions): Promise<ExecutionReply>;
  /** Takes up the output and the end of an execution that was sent before this side of the link existed. */
  resume?(options: ExecuteOptions): Promise<ExecutionReply>;
  /**
   * Stops the kernel by the ladder. Always settles: a limited one within its timeout, an unlimited one within the
   * ladder's sum. Calls while one is going on join it.
   */
  shutdown(options?: ShutdownOptions): Promise<ShutdownOutcome>;
  /** Past the first, asking step of a stop: it accepts no more code. */
  isStopping?(): boolean;
  introspectPrelude?(): Promise<readonly PreludeHelper[]>;
  /** Sends a real interrupt each time it is called; bound to an execution, it cannot hit the next one. */
  interrupt?(executionId?: string): Promise<InterruptVerdict>;
  /** SIGKILL to the group at once; the outcome is the evidence. */
  kill?(): Promise<ShutdownOutcome>;
  readonly pid?: number | undefined;
  /** For people: "Python 3.11.7 (/usr/bin/python3)". */
  readonly description?: string;
  /** Present: it was started with a restricted environment, without these names. */
  readonly withheldEnvironment?: WithheldNames | undefined;
  /** The end of what its process, or one that it started, wrote on descriptor 2 itself; also after its exit. */
  stderr?(): Promise<string>;
  /** Resident memory of the process tree in bytes. */
  memory?(): Promise<number | undefined>;
  /** How it died, once it has. */
  readonly exit?: KernelExit | undefined;
  /** For people, a sentence: why it can't be reached any more, where that is not its exit. */
  readonly whyAway?: string | undefined;
  readonly onDidExit?: Event<KernelExit>;
  readonly onDidStopStep?: Event<StopProgress>;
  /** undefined: it answers, as far as anybody knows. */
  readonly silence?: Silence | undefined;
  readonly onDidChangeSilence?: Event<void>;
  /** Output that came after its run had ended (a thread's), or that belongs to no run (`executionId` undefined). */
  readonly onDidLateOutput?: Event<{
    readonly executionId: string | undefined;
    readonly output: KernelOutput;
  }>;
}
