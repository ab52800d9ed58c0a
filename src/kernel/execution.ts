import type { KernelOutput } from './output';

/** A kernel's question to a person (`input()`, `getpass()`). */
export interface InputRequest {
  readonly prompt: string;
  readonly password: boolean;
  /** Aborts when the answer is no longer wanted: the run was interrupted or the kernel died. */
  readonly signal: AbortSignal;
}

/** Answers a question; `null` is end of file, which is not an empty line. */
export type InputHandler = (request: InputRequest) => Promise<string | null>;

/** Where a piece of code stands, so that tracebacks name the user's own file and lines. */
export interface CodeSource {
  /** Absolute path, or the name of an untitled document. */
  readonly file: string;
  /** 1-based line of the first line of the code. */
  readonly line: number;
}

export interface ExecuteOptions {
  /** Unique within the kernel's life. An interrupt is bound to it. */
  readonly executionId: string;
  /** Pieces of output in order. A bare string is stdout text. Never called after the reply. */
  readonly onOutput: (output: KernelOutput | string) => void;
  /** Aborted: interrupt this execution (and kill the kernel, where that is not heeded). */
  readonly signal: AbortSignal;
  /** Absent: nobody can answer, and asking ends the run with `stdinRequested`. */
  readonly onInput?: InputHandler;
  readonly source?: CodeSource;
}

/** How an execution ended. */
export interface ExecutionReply {
  readonly status: 'ok' | 'error';
  /** It was interrupted, or the kernel died under it. */
  readonly cancelled: boolean;
  readonly timedOut: boolean;
  /** Input was asked for and nobody could answer. */
  readonly stdinRequested: boolean;
  /** The interrupt of its abort was not heeded: the kernel had to be killed under it. */
  readonly killed?: true;
  /** The working directory that the code left behind, where the kernel tells it: when it is another one than before. */
  readonly cwd?: string;
}

/** What a request to interrupt can claim. */
export interface InterruptVerdict {
  /** The signal (or the protocol's interrupt) was handed to the target. Not yet that it was heeded. */
  readonly delivered: boolean;
  /** What it was sent to, for people: "process group 4711". */
  readonly target: string;
  readonly reason?: string;
}
