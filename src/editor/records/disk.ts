import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';

export interface DiskFile {
  readonly name: string;
  readonly bytes: number;
  /** Ms since the epoch. */
  readonly writtenAt: number;
}

/** One folder that only this user can look into. Everything rejects as the file system does, unless said otherwise. */
export interface Disk {
  prepare(): Promise<void>;
  /** The files that are there now; none where there is no folder. */
  list(): Promise<DiskFile[]>;
  /** The beginning of a file; undefined: it is not there. */
  beginning(name: string, bytes: number): Promise<string | undefined>;
  /** Undefined: it is not there. */
  read(name: string): Promise<string | undefined>;
  /** Adds to the end in one write, after `first` where the file is new or empty. Answers whether it was. */
  append(name: string, first: string, text: string): Promise<{ wasEmpty: boolean }>;
  /** Whole or not at all: whoever reads meanwhile sees the old one. */
  replace(name: string, text: string): Promise<void>;
  /** False: it is not there. */
  rename(from: string, to: string): Promise<boolean>;
  remove(name: string): Promise<void>;
}

export function diskIn(folder: string): Disk {
  const at = (name: string): string => path.join(folder, name);
  return {
    async prepare() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // A folder that was there already has the mode that it was made with.
      await chmod(folder, 0o700);
    },
    async list() {
      const names = await unlessMissing(readdir(folder));
      const files = (names ?? []).map(async (name): Promise<DiskFile | undefined> => {
        const found = await unlessMissing(stat(at(name)));
        return found?.isFile() ? { name, bytes: found.size, writtenAt: found.mtimeMs } : undefined;
      });
      return (await Promise.all(files)).filter((file) => file !== undefined);
    },
    async beginning(name, bytes) {
      const file = await unlessMissing(open(at(name), 'r'));
      if (!file) return undefined;
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
        return buffer.toString('utf8', 0, bytesRead);
      } finally {
        await file.close();
      }
    },
    read: (name) => unlessMissing(readFile(at(name), 'utf8')),
    async append(name, first, text) {
      const file = await open(at(name), 'a', 0o600);
      try {
        const wasEmpty = (await file.stat()).size === 0;
        const content = Buffer.from(wasEmpty ? first + text : text);
        const { bytesWritten } = await file.write(content);
        if (bytesWritten < content.length) throw new Error('The disk took only a part of it.');
        return { wasEmpty };
      } finally {
        await file.close();
      }
    },
    async replace(name, text) {
      const fresh = at(`${name}.new`);
      await writeFile(fresh, text, { mode: 0o600 });
      await rename(fresh, at(name));
    },
    rename: async (from, to) =>
      (await unlessMissing(rename(at(from), at(to)).then(() => true))) ?? false,
    remove: (name) => rm(at(name), { force: true }),
  };
}

async function unlessMissing<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
