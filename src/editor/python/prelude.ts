import { createHash } from 'node:crypto';
import { messageOf } from '../../base/errors';
import { expand, pathOf, type Machine } from './interpreter';

export const PRELUDE_SETTING = 'holdfast.python.prelude';

export interface PreludeFile {
  /** Absolute. */
  readonly path: string;
  readonly code: string;
}

/** The files that a session begins with, as they are now. */
export interface Prelude {
  readonly files: readonly PreludeFile[];
  /** For people: files that are named but cannot be read, each in a sentence. */
  readonly missing: readonly string[];
}

interface PreludeScope {
  /** Value of the setting. */
  readonly setting: readonly string[];
  /** What relative paths start from. */
  readonly folder: string;
  readonly machine: Pick<Machine, 'platform' | 'home'>;
  /** Rejects when the file cannot be read. */
  readText(path: string): Promise<string>;
}

/** Reads the files that the setting names, in its order. Never rejects. */
export async function readPrelude({
  setting,
  folder,
  machine,
  readText,
}: PreludeScope): Promise<Prelude> {
  const files: PreludeFile[] = [];
  const missing: string[] = [];
  for (const named of setting.map((entry) => entry.trim()).filter(Boolean)) {
    const path = pathOf(machine).resolve(folder, expand(named, folder, machine));
    try {
      files.push({ path, code: await readText(path) });
    } catch (error) {
      missing.push(
        `The setting "${PRELUDE_SETTING}" names ${path}, which cannot be read: ${messageOf(error)}. The session starts without it.`,
      );
    }
  }
  return { files, missing };
}

/** Equal for preludes that define the same with the same interpreter. */
export function contentOf({ files }: Prelude, interpreter: string): string {
  const hash = createHash('sha256').update(interpreter);
  // The lengths keep one file's end from passing for the next one's beginning.
  for (const { path, code } of files) hash.update(`\0${path}\0${code.length}\0${code}`);
  return hash.digest('hex');
}
