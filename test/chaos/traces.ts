import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = 'traces';

/** What a run wrote down itself, beside what it printed. */
export interface Trace {
  /** The kernels that began it. */
  readonly pids: readonly number[];
  /** When it had printed each line, ms since the epoch. */
  readonly printedAt: readonly number[];
}

export function makeTraceFolder(workingDirectory: string): void {
  mkdirSync(path.join(workingDirectory, FOLDER));
}

/** The file for it, from where its code runs. */
export const traceOf = (run: string): string => `${FOLDER}/${run}`;

export function readTrace(workingDirectory: string, run: string): Trace {
  const pids: number[] = [];
  const printedAt: number[] = [];
  for (const line of read(path.join(workingDirectory, traceOf(run))).split('\n')) {
    const [what, value] = line.split(' ');
    if (value === undefined) continue;
    if (what === 'began') pids.push(Number(value));
    else printedAt.push(Number(value) * 1_000);
  }
  return { pids, printedAt };
}

/** One that was never begun has none. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
