import fs, { type Dirent } from 'node:fs';
import { join } from 'node:path';
import type { IgnoreRules } from './ignoreRules';
import { Pace } from './pace';
import { isGone, isOfSystem } from './systemErrors';

/** What tells that a file is another than before, without reading it. */
export interface FileStat {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  readonly isLink: boolean;
}

export interface Walk {
  /** By path relative to the root, with slashes. */
  readonly files: ReadonlyMap<string, FileStat>;
  /** There are more files than were looked at. */
  readonly isCut: boolean;
  /** Folders that could not be read. */
  readonly unreadable: readonly string[];
  /** Files that are there, but could not be looked at. */
  readonly unreadableFiles: readonly string[];
}

const ENTRIES_AT_ONCE = 256;

/**
 * Looks at every file of a folder that counts. Links are not followed. What comes or goes meanwhile may be missed.
 * Each look holds the thread: a hop to another one and back would cost many times as much.
 */
export async function walk(
  root: string,
  rules: IgnoreRules,
  { maxFiles, signal }: { readonly maxFiles: number; readonly signal?: AbortSignal },
): Promise<Walk> {
  const files = new Map<string, FileStat>();
  const unreadable: string[] = [];
  const unreadableFiles: string[] = [];
  const pace = new Pace(signal);
  const folders = [{ path: '', rules }];
  let isCut = false;
  await pace.turn();
  for (let folder = folders.shift(); folder && !isCut; folder = folders.shift()) {
    const entries = await entriesOf(join(root, folder.path), pace);
    if (!entries) {
      unreadable.push(folder.path);
      continue;
    }
    const names = new Set(entries.map(({ name }) => name));
    const own = await folder.rules.within(root, folder.path, names);
    for (const entry of entries) {
      if (pace.isDue) await pace.turn();
      const path = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`;
      if (own.ignores(path, entry.isDirectory())) continue;
      if (entry.isDirectory()) folders.push({ path, rules: own });
      else if (entry.isFile() || entry.isSymbolicLink()) {
        const stat = statOrHidden(join(root, path));
        if (stat === 'hidden') unreadableFiles.push(path);
        else if (stat && files.size === maxFiles) isCut = true;
        else if (stat) files.set(path, stat);
      }
      if (isCut) break;
    }
  }
  return { files, isCut, unreadable, unreadableFiles };
}

function statOrHidden(file: string): FileStat | 'hidden' | undefined {
  try {
    return statOf(file);
  } catch (error) {
    if (isOfSystem(error)) return 'hidden';
    throw error;
  }
}

/** Undefined: it is gone. Throws what the system says where it can't be looked at. */
export function statOf(file: string): FileStat | undefined {
  try {
    const stat = fs.lstatSync(file);
    if (!stat.isFile() && !stat.isSymbolicLink()) return undefined;
    const { size, mtimeMs, ctimeMs, ino: inode } = stat;
    return { size, mtimeMs, ctimeMs, inode, isLink: stat.isSymbolicLink() };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** In pieces: a folder of many thousands would hold the thread. Undefined: it can't be read, or is gone. */
async function entriesOf(folder: string, pace: Pace): Promise<Dirent[] | undefined> {
  const entries: Dirent[] = [];
  try {
    const opened = fs.opendirSync(folder, { bufferSize: ENTRIES_AT_ONCE });
    try {
      for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
        entries.push(entry);
        if (pace.isDue) await pace.turn();
      }
    } finally {
      opened.closeSync();
    }
    return entries;
  } catch (error) {
    if (isOfSystem(error)) return undefined;
    throw error;
  }
}

/** Whether a file is to be read again to know whether it is another. */
export function isSameStat(a: FileStat, b: FileStat): boolean {
  return (
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.inode === b.inode &&
    a.isLink === b.isLink
  );
}
