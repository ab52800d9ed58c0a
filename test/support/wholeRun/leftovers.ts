import crypto from 'node:crypto';
import { describe } from '../processes/family';
import { markedWith } from '../processes/processTable';
import { until } from '../until';
import { type LevelOutcome, failure } from './outcome';

const mark = 'HOLDFAST_TEST_RUN';

/** Finds what a level started and did not end: everything that is started from now on carries a mark. */
export interface LeftoverWatch {
  /** Ends, by pid, what is left of the level, and resolves to a failure that names it, or to nothing. */
  afterLevel(name: string): Promise<LevelOutcome | undefined>;
  endAll(): void;
}

export function watchForLeftovers(): LeftoverWatch {
  const nonce = crypto.randomUUID();
  process.env[mark] = nonce;
  const left = (): ReturnType<typeof markedWith> =>
    markedWith(mark, nonce).filter(({ pid }) => pid !== process.pid);
  const endAll = (): void => {
    for (const { pid } of left()) end(pid);
  };
  return {
    endAll,
    afterLevel: async (name) => {
      // Those that are on their way out get the time to get there.
      if (await until(() => left().length === 0, 3_000)) return undefined;
      const names = left().map(describe).join('\n');
      endAll();
      return failure(`the ${name} tests end every process that they start`, `left:\n${names}`);
    },
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
