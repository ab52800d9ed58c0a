import type { Pace } from './pace';
import { isSameStat, type FileStat } from './walk';

interface IndexDiff {
  readonly created: readonly string[];
  readonly gone: readonly string[];
  /** They may be another, and are to be read. */
  readonly suspect: readonly string[];
}

/** A file as it was when it was read. Times are ms since the epoch. */
export interface Seen {
  readonly stat: FileStat;
  readonly readAt: number;
}

// The coarsest stamps of file systems in use, FAT's.
const STAMP_MS = 2_000;

/** A file written again within one tick of its file system's clock has the stamps of the first time. */
function isRacy({ stat, readAt }: Seen): boolean {
  return readAt - Math.max(stat.mtimeMs, stat.ctimeMs) < STAMP_MS;
}

export async function diffOf(
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, FileStat>,
  pace: Pace,
): Promise<IndexDiff> {
  const created: string[] = [];
  const gone: string[] = [];
  const suspect: string[] = [];
  for (const [path, stat] of after) {
    if (pace.isDue) await pace.turn();
    const known = before.get(path);
    if (!known) created.push(path);
    else if (!isSameStat(known.stat, stat) || isRacy(known)) suspect.push(path);
  }
  for (const path of before.keys()) {
    if (pace.isDue) await pace.turn();
    if (!after.has(path)) gone.push(path);
  }
  return { created, gone, suspect };
}
