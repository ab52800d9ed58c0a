import type { ExecutionResult, RunOrigin } from '../pool/types';

/** What came of a run, as it is kept. Times are ms since the epoch, bytes UTF-8. */
export interface RunRecordEntry {
  readonly code: string;
  readonly output: string;
  /** Undefined for a cancelled run. */
  readonly exitCode: number | undefined;
  readonly cancelled: boolean;
  readonly truncated: boolean;
  /** What the stream had before the first character of `output`; undefined: nothing was cut. */
  readonly cut: { readonly lines: number; readonly bytes: number } | undefined;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly outputLines: number;
  readonly outputBytes: number;
  /** Path of the full output on disk. */
  readonly artifact?: string;
  readonly excludeFromContext: boolean;
  /** Who asked: as the host told it, else the owner's id. */
  readonly origin: RunOrigin | (string & {});
  readonly ownerId: string;
  readonly language: string;
  readonly cwd: string;
  readonly executionId?: string;
  /** When the run was asked for, and when its result was there. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** What is known of a run besides its result. */
export type RunFacts = Pick<
  RunRecordEntry,
  'code' | 'excludeFromContext' | 'origin' | 'ownerId' | 'language' | 'cwd' | 'startedAt'
> & { readonly executionId?: string | undefined };

export function recordOf(
  { executionId, ...facts }: RunFacts,
  result: ExecutionResult,
  endedAt: number,
): RunRecordEntry {
  const { output, exitCode, cancelled, truncated, artifact } = result;
  const { totalLines, totalBytes, outputLines, outputBytes } = result;
  return {
    ...facts,
    ...(executionId === undefined ? {} : { executionId }),
    output,
    exitCode,
    cancelled,
    truncated,
    cut: truncated ? cutOf(result) : undefined,
    totalLines,
    totalBytes,
    outputLines,
    outputBytes,
    ...(artifact === undefined ? {} : { artifact }),
    endedAt,
  };
}

function cutOf(result: ExecutionResult): { readonly lines: number; readonly bytes: number } {
  // A mark for what was left out on the way counts in the text, and not in the stream.
  return {
    lines: Math.max(0, result.totalLines - result.outputLines),
    bytes: Math.max(0, result.totalBytes - result.outputBytes),
  };
}

/** Hands entries on in order. While it must not, they wait; each leaves the queue only once it is written. */
export class RecordQueue {
  private readonly waiting: RunRecordEntry[] = [];
  private isWriting = false;

  constructor(private readonly write: (entry: RunRecordEntry) => void) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  add(entry: RunRecordEntry): void {
    this.waiting.push(entry);
  }

  /** Throws what the first failing write threw: that entry and those behind it wait for the next call. */
  flush(): void {
    // A writer that comes back here finds its own entry at work: the outer call goes on with the rest.
    if (this.isWriting) return;
    this.isWriting = true;
    try {
      for (let entry = this.waiting[0]; entry !== undefined; entry = this.waiting[0]) {
        this.write(entry);
        this.waiting.shift();
      }
    } finally {
      this.isWriting = false;
    }
  }
}
