import { parseArgs } from 'node:util';

export const levelNames = ['check', 'unit', 'process', 'chaos', 'editor', 'e2e'] as const;
export type LevelName = (typeof levelNames)[number];

/** Which tests of a level to run; all when nothing is said. */
export interface Selection {
  /** A regular expression on test names. */
  readonly only: string | undefined;
  /** Parts of file names; they count for the levels that vitest runs. */
  readonly files: readonly string[];
}

export interface Wanted {
  readonly levels: readonly LevelName[];
  readonly selection: Selection;
  /** For how long the chaos lasts. */
  readonly seconds: number;
  /** It was given in minutes: what else can last goes on for longer too. */
  readonly isSoak: boolean;
  /** What it begins with; undefined: another one each time. */
  readonly seed: string | undefined;
}

const CHAOS_SECONDS = '240';

/** Throws an error that says what is possible when the arguments make no sense. */
export function parseWanted(args: readonly string[]): Wanted {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      level: { type: 'string', multiple: true },
      only: { type: 'string' },
      seed: { type: 'string' },
      seconds: { type: 'string', default: CHAOS_SECONDS },
      minutes: { type: 'string' },
    },
  });
  const levels = (values.level ?? []).map(asLevel);
  return {
    levels: levels.length === 0 ? levelNames : levelNames.filter((name) => levels.includes(name)),
    selection: { only: values.only, files: positionals },
    seconds: values.minutes === undefined ? Number(values.seconds) : 60 * Number(values.minutes),
    isSoak: values.minutes !== undefined,
    seed: values.seed,
  };
}

function asLevel(name: string): LevelName {
  const level = levelNames.find((each) => each === name);
  if (level === undefined) throw new Error(`--level ${name}: there are ${levelNames.join(', ')}`);
  return level;
}
