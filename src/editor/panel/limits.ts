/** What the transcript keeps. Text beyond is counted and left out in the middle, whole runs at the start. */
export interface TranscriptLimits {
  /** Of each run's text the first lines or bytes, whichever is reached first, plus the last ones. */
  readonly headLines: number;
  readonly headBytes: number;
  readonly tailLines: number;
  readonly tailBytes: number;
  /** Displays, results and errors of one run: the last so many, and so many bytes. */
  readonly items: number;
  readonly itemBytes: number;
  /** Of one session. */
  readonly runs: number;
  readonly sessionBytes: number;
  /** Transcripts of sessions that are gone. */
  readonly goneSessions: number;
}

const MiB = 1024 * 1024;

export const defaultLimits: TranscriptLimits = {
  headLines: 1_000,
  headBytes: 128 * 1024,
  tailLines: 10_000,
  tailBytes: MiB,
  items: 200,
  itemBytes: 32 * MiB,
  runs: 300,
  sessionBytes: 96 * MiB,
  goneSessions: 8,
};
