import { parseArgs } from 'node:util';

export const levelNames = ['check', 'unit', 'process', 'editor', 'e2e'] as const;
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
}

/** Throws an error that says what is possible when the arguments make no sense. */
export function parseWanted(args: readonly string[]): Wanted {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { level: { type: 'string', multiple: true }, only: { type: 'string' } },
  });
  const levels = (values.level ?? []).map(asLevel);
  return {
    levels: levels.length === 0 ? levelNames : levelNames.filter((name) => levels.includes(name)),
    selection: { only: values.only, files: positionals },
  };
}

function asLevel(name: string): LevelName {
  const level = levelNames.find((each) => each === name);
  if (level === undefined) throw new Error(`--level ${name}: there are ${levelNames.join(', ')}`);
  return level;
}
