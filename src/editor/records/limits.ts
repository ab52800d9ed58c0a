/** What is kept on disk. Bytes are UTF-8 as written. */
export interface RecordLimits {
  /** Of one run's output, and of its code. */
  readonly outputBytes: number;
  readonly codeBytes: number;
  /** Of one picture, table or error within it: what is larger is replaced by a note, or shortened. */
  readonly itemBytes: number;
  /** Of one session: beyond, its oldest runs go. */
  readonly sessionBytes: number;
  readonly sessionRuns: number;
  /** Of one workspace: beyond, the sessions go that were written least recently; the same again of background runs. */
  readonly workspaceBytes: number;
  readonly sessions: number;
  /** Runs that wait in memory for a disk that is slow or fails. */
  readonly waitingRuns: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

export const defaultLimits: RecordLimits = {
  outputBytes: 256 * KiB,
  codeBytes: 64 * KiB,
  itemBytes: 128 * KiB,
  sessionBytes: 2 * MiB,
  sessionRuns: 500,
  workspaceBytes: 20 * MiB,
  sessions: 50,
  waitingRuns: 200,
};
