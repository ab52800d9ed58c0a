/**
 * Holdfast for other extensions, version 1. This file has types alone and imports nothing else of Holdfast: copy it.
 *
 * ```ts
 * const holdfast = vscode.extensions.getExtension<HoldfastApi>('holdfast.holdfast');
 * const client = (await holdfast?.activate())?.for(context);
 * const { output } = await client.run('1 + 1');
 * ```
 *
 * Whatever fails rejects with an error that has a `code`. The ones to expect:
 * `untrusted_workspace` (nothing runs until a person trusts the workspace), `bad_input` (an argument is not what is said
 * here), `closed` (the client is disposed), `interpreter_not_found`, `start_failed`, `capture_busy` and
 * `capture_unavailable` (see `externalMutation`), `hook_failed` (a before-run hook of some extension).
 */
import type { Disposable, Event } from 'vscode';

export interface HoldfastApi {
  /** Grows by one when something here changes in a way that breaks its callers. */
  readonly version: 1;
  /**
   * The face of Holdfast for one extension: what it does is done in its name. There is one for each extension until it
   * is disposed, so that all its parts share it.
   *
   * Pass your extension's context, and the client is disposed with it; with the id alone (`publisher.name`) you dispose.
   * What it holds stays then, since VS Code disposes of a context before a reload too: see `dispose`.
   * Throws `bad_input` where no extension of that id is there. VS Code does not tell who calls, and so the id is taken
   * on trust: it names an owner for people to see, and protects nothing from another extension.
   */
  for(extension: string | ExtensionLike): HoldfastClient;
}

/** The part of a `vscode.ExtensionContext` that is used. */
export interface ExtensionLike {
  readonly extension: { readonly id: string };
  readonly subscriptions: { push(disposable: { dispose(): unknown }): unknown };
}

/**
 * An extension as an owner. A session that it has run code in, or holds, stays as long as it or somebody else holds it;
 * people see it in the Sessions tree by its display name and can release it there.
 */
export interface HoldfastClient extends Disposable {
  /** `extension:publisher.name`. */
  readonly ownerId: string;
  /**
   * Runs code in the session that the place stands for, and holds it from then on. Runs of a session go one after the
   * other, in the order of their calls. Resolves when the run is over, also when the code failed or was cancelled;
   * rejects only where it could not be run. Code that may have been sent is never sent again.
   */
  run(code: string, options?: RunOptions): Promise<RunResult>;
  /**
   * Starts the session of a place if there is none, and holds it. It counts against the person's limit of kernels:
   * where that is reached, this waits for a slot.
   */
  hold(place?: SessionPlace): Promise<HeldSession>;
  /**
   * Lets go of all that is held: what runs has 3 s to end, then is interrupted; sessions that nobody else holds stop.
   * The client can be used again afterwards. Resolves when that is confirmed, or its limits have passed.
   */
  release(): Promise<void>;
  /** All sessions of the window, whoever holds them. */
  sessions(): readonly SessionInfo[];
  /** Something in `sessions()` changed; told every 100 ms at most. */
  readonly onDidChangeSessions: Event<void>;
  /**
   * Asks `hook` before each run of this window, whoever asked for it, in the order of registration. It may supply the
   * result, and then the code is not run; one that throws keeps the run from happening. The person waits meanwhile.
   */
  addBeforeRunHook(hook: BeforeRunHook): Disposable;
  /**
   * Edits workspace files with nothing else writing that a person has asked to keep apart: no run with capture and no
   * background run goes on beside `edit`. Rejects with `capture_busy` where one does; with `capture_unavailable` where
   * nothing is admitted until the window is reloaded; else as `edit` does. May nest, through async calls too.
   */
  externalMutation<T>(edit: () => T | PromiseLike<T>): Promise<T>;
  /** Runs in kernels of their own, beside the sessions. */
  readonly background: BackgroundRuns;
  /**
   * Takes hooks and listeners away and ends the client. What is held goes on, over a reload too, until the extension
   * calls `release`, on this client or a later one, or is disabled or removed.
   */
  dispose(): void;
}

/** Which session is meant. Nothing: the one of the first workspace folder, which a person's own files there use. */
export interface SessionPlace {
  /** `python` is the only one, and the default. */
  readonly language?: 'python';
  /** A folder on disk, absolute: the session that files in it use. */
  readonly cwd?: string;
  /** A session of that folder apart from the one that a person uses. The same name is the same session, for all. */
  readonly name?: string;
  /** A session that is there, by its id in `sessions()`. Not together with `cwd` or `name`. */
  readonly session?: string;
}

export interface RunOptions extends SessionPlace {
  /** Limit of the run in ms from the call, waiting included. Then it is interrupted; one that goes on is killed. */
  readonly timeoutMs?: number;
  /** Aborted: the run is interrupted, or called off while it waits. */
  readonly signal?: AbortSignal;
  /** Keeps code and output out of what agents are told. Default false. */
  readonly excludeFromContext?: boolean;
  /** Told each piece of output as it comes, before the run resolves. */
  readonly onOutput?: (output: Output) => void;
}

/** As in Jupyter's messaging protocol; data by MIME type, binary types as base64 text. */
export type Output =
  | { readonly type: 'stream'; readonly name: 'stdout' | 'stderr'; readonly text: string }
  | {
      readonly type: 'display' | 'result';
      readonly data: Readonly<Record<string, unknown>>;
      readonly metadata?: Readonly<Record<string, unknown>>;
      /** Of displays: a later `updateDisplay` of this id replaces it. */
      readonly displayId?: string;
    }
  | {
      readonly type: 'updateDisplay';
      readonly displayId: string;
      readonly data: Readonly<Record<string, unknown>>;
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'error';
      readonly name: string;
      readonly value: string;
      readonly traceback: string;
    }
  /** Forget the output so far: at once, or (`wait`) when more comes. */
  | { readonly type: 'clear'; readonly wait: boolean }
  /** Text that was left out because it came faster than it could be taken. */
  | { readonly type: 'gap'; readonly lines: number; readonly bytes: number };

export interface RunResult {
  /** The last part of the text, cut at a line; how much is a setting (50,000 bytes). */
  readonly output: string;
  /** 0: it went well. 1: it raised. Undefined: cancelled. */
  readonly exitCode: number | undefined;
  /** By the signal, its limit, a person, or because its kernel went away. */
  readonly cancelled: boolean;
  /** `output` is not all of it. */
  readonly truncated: boolean;
  /** Of all the text, and of `output`. Bytes are UTF-8. */
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly outputLines: number;
  readonly outputBytes: number;
  readonly displayOutputs: readonly {
    readonly data: Readonly<Record<string, unknown>>;
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly displayId?: string;
  }[];
  /** The code asked for input, and nobody could answer. */
  readonly stdinRequested: boolean;
  /** What Holdfast itself says in `output`: that the kernel is new, how the run ended. */
  readonly notes?: readonly string[];
  /** Path of the whole output on disk. */
  readonly artifact?: string;
}

export interface SessionInfo {
  /** Stable for the session's life. */
  readonly id: string;
  /** What people call it. */
  readonly label: string;
  readonly language: 'python';
  readonly cwd: string;
  readonly state: 'starting' | 'idle' | 'busy' | 'stopping' | 'stopUnconfirmed' | 'dead';
  /** Grows with each kernel that the session gets: what was defined before is gone then. */
  readonly incarnation: number;
  readonly isHeldByYou: boolean;
}

export interface HeldSession extends Disposable {
  readonly session: SessionInfo;
  /**
   * Lets go of this session alone, whatever was run in it meanwhile. Resolves when it has stopped, where nobody else
   * holds it. Further calls do nothing.
   */
  release(): Promise<void>;
  /** `release` without waiting. In a context's subscriptions, that also happens before each reload. */
  dispose(): void;
}

export interface BeforeRun {
  readonly language: string;
  readonly code: string;
  /** Absolute. */
  readonly cwd: string;
  readonly excludeFromContext: boolean;
}

export type BeforeRunHook = (run: BeforeRun) => BeforeRunAnswer | PromiseLike<BeforeRunAnswer>;

/** With a `result`, that is the run's. */
export type BeforeRunAnswer = { readonly result?: RunResult | undefined } | null | undefined | void;

/** Only an extension's own runs are seen through it. They end when the extension calls `release` or is gone. */
export interface BackgroundRuns {
  /** Resolves when the kernel has started. Rejects with `too_many_runs`, or with `capture_busy` beside a capture. */
  launch(code: string, options?: BackgroundOptions): Promise<{ readonly executionId: string }>;
  /** Oldest first. */
  list(): readonly BackgroundRun[];
  /** Never waits. Throws `run_not_found`, as do those below. */
  peek(executionId: string): BackgroundRun;
  /** Interrupts once, and waits up to 5 s for the end. */
  interrupt(executionId: string): Promise<BackgroundRun>;
  /** Kills its kernel, and waits up to 5 s for the end. */
  kill(executionId: string): Promise<BackgroundRun>;
  /** A run came, ended or changed its state. Not told of output. */
  readonly onDidChange: Event<void>;
}

export interface BackgroundOptions {
  readonly language?: 'python';
  /** A folder on disk, absolute. Default: the first workspace folder. */
  readonly cwd?: string;
  /** For people. Default: the first line of the code. */
  readonly label?: string;
  readonly excludeFromContext?: boolean;
}

/** Times are ms since the epoch. */
export interface BackgroundRun {
  readonly executionId: string;
  readonly status: 'running' | 'done' | 'failed' | 'interrupted';
  /** The run, and the end of its kernel, are over. */
  readonly done: boolean;
  /** The first 1,000,000 characters. */
  readonly stdout: string;
  /** What the code raised. */
  readonly error: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** Path of the whole output on disk. */
  readonly artifact?: string;
}
