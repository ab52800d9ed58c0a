import { promises as fs, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../base/errors';
import type { IgnoreRules } from './ignoreRules';
import { forEachOf, Pace } from './pace';

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
}

// The thread pool that answers has four threads, and others need it too.
const FOLDERS_AT_ONCE = 4;
const STATS_AT_ONCE = 16;
const ENTRIES_AT_ONCE = 256;

/** Looks at every file of a folder that counts. Links are not followed. What comes or goes meanwhile may be missed. */
export async function walk(
  root: string,
  rules: IgnoreRules,
  { maxFiles, signal }: { readonly maxFiles: number; readonly signal?: AbortSignal },
): Promise<Walk> {
  const files = new Map<string, FileStat>();
  const unreadable: string[] = [];
  const pace = new Pace(signal);
  let isCut = false;
  let room = maxFiles;
  let folders = [{ path: '', rules }];

  const visit = async (folder: { path: string; rules: IgnoreRules }): Promise<typeof folders> => {
    const entries = await entriesOf(join(root, folder.path), pace);
    if (!entries) {
      unreadable.push(folder.path);
      return [];
    }
    const names = new Set(entries.map(({ name }) => name));
    const own = await folder.rules.within(root, folder.path, names);
    const below: typeof folders = [];
    const wanted: string[] = [];
    for (const entry of entries) {
      await pace.turn();
      const path = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`;
      if (own.ignores(path, entry.isDirectory())) continue;
      if (entry.isDirectory()) below.push({ path, rules: own });
      else if (entry.isFile() || entry.isSymbolicLink()) wanted.push(path);
    }
    await forEachOf(wanted, STATS_AT_ONCE, async (path) => {
      await pace.turn();
      if (room === 0) {
        isCut = true;
        return;
      }
      room--;
      const stat = await statOf(join(root, path));
      if (stat) files.set(path, stat);
      else room++;
    });
    return below;
  };

  while (folders.length > 0 && !isCut) {
    const next: typeof folders = [];
    await forEachOf(folders, FOLDERS_AT_ONCE, async (folder) => {
      if (!isCut) for (const each of await visit(folder)) next.push(each);
    });
    folders = next;
  }
  return { files, isCut, unreadable };
}

/** Undefined: it is gone. */
export async function statOf(file: string): Promise<FileStat | undefined> {
  try {
    const stat = await fs.lstat(file);
    if (!stat.isFile() && !stat.isSymbolicLink()) return undefined;
    const { size, mtimeMs, ctimeMs, ino: inode } = stat;
    return { size, mtimeMs, ctimeMs, inode, isLink: stat.isSymbolicLink() };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

export function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** In pieces: a folder of many thousands would hold the thread. Undefined: it can't be read, or is gone. */
async function entriesOf(folder: string, pace: Pace): Promise<Dirent[] | undefined> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await fs.opendir(folder, { bufferSize: ENTRIES_AT_ONCE })) {
      entries.push(entry);
      await pace.turn();
    }
    return entries;
  } catch (error) {
    const code = codeOf(error);
    if (isGone(error) || code === 'EACCES' || code === 'EPERM') return undefined;
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
