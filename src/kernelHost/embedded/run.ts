import { deferred } from '../../base/deferred';
import type { CodeSource, ExecutionReply } from '../../kernel/execution';

export interface RunRequest {
  readonly executionId: string;
  readonly code: string;
  readonly source?: CodeSource;
  /** Somebody can answer `input()`. */
  readonly stdin: boolean;
}

/** How the runner said that a run ended. */
interface RunEnd {
  readonly status: 'ok' | 'error';
  readonly interrupted: boolean;
  readonly stdinRequested: boolean;
  readonly cwd?: string;
}

/** One execution from its request to its reply. */
export class Run {
  private readonly reply = deferred<ExecutionReply>();
  private readonly begun = deferred();
  aborted = false;
  /** Its abort was not heeded and came to a kill. */
  killed = false;

  constructor(readonly request: RunRequest) {}

  get id(): string {
    return this.request.executionId;
  }

  /** Resolves when an interrupt reaches its code, or there is nothing left to interrupt. */
  get whenBegun(): Promise<void> {
    return this.begun.promise;
  }

  begin(): void {
    this.begun.resolve();
  }

  get replied(): Promise<ExecutionReply> {
    return this.reply.promise;
  }

  end({ status, interrupted, stdinRequested, cwd }: RunEnd): void {
    this.begun.resolve();
    const cancelled = interrupted || this.aborted;
    this.reply.resolve({
      ...{ status, cancelled, timedOut: false, stdinRequested },
      ...(cwd !== undefined && { cwd }),
    });
  }

  /** It never ran to an end: it was not sent, or the kernel died under it. */
  cancel(): void {
    this.begun.resolve();
    this.reply.resolve({
      status: 'error',
      cancelled: true,
      timedOut: false,
      stdinRequested: false,
      ...(this.killed && { killed: true }),
    });
  }
}
