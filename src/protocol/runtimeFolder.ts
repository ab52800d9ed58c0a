import { lstat, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { HoldfastError, messageOf } from '../base/errors';

// macOS holds a socket's address in 104 bytes, the last one a zero; Linux in 108.
const LONGEST_SOCKET_PATH = 103;
const PREFIX = 'holdfast-';
const RANDOM_SUFFIX_LENGTH = 6;

export const socketPathIn = (folder: string): string => path.join(folder, 's');
export const logPathIn = (folder: string): string => path.join(folder, 'host.log');
const tokenPathIn = (folder: string): string => path.join(folder, 'token');

/**
 * Makes a folder that only this user can enter, in `preferred`, else XDG_RUNTIME_DIR, else the temporary folder: the
 * first that exists and leaves room for a socket's path. Rejects with HoldfastError `host_unavailable`.
 */
export async function makeRuntimeFolder(preferred?: string): Promise<string> {
  const complaints: string[] = [];
  for (const base of basesFrom(preferred)) {
    const complaint = await unfit(base);
    if (complaint === undefined) {
      try {
        return await mkdtemp(path.join(base, PREFIX));
      } catch (error) {
        complaints.push(messageOf(error));
      }
    } else {
      complaints.push(complaint);
    }
  }
  throw new HoldfastError(
    'host_unavailable',
    `There is no place for the kernel host's socket: ${complaints.join('; ')}. ` +
      'Set XDG_RUNTIME_DIR or TMPDIR to a folder of yours with a short path.',
  );
}

/** Folders of kernel hosts that are safely this user's, of living and of dead ones, wherever they may have been made. */
export async function findRuntimeFolders(preferred?: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const base of basesFrom(preferred)) {
    const names = await readdir(base).catch(() => []);
    for (const name of names.filter((each) => each.startsWith(PREFIX))) {
      const folder = path.join(base, name);
      const isSafe = await checkRuntimeFolder(folder).then(
        () => true,
        () => false,
      );
      if (isSafe) found.push(folder);
    }
  }
  return found;
}

function basesFrom(preferred: string | undefined): readonly string[] {
  const bases = [preferred, process.env['XDG_RUNTIME_DIR'], os.tmpdir()];
  return [...new Set(bases.filter((base) => base !== undefined && base !== ''))] as string[];
}

async function unfit(base: string): Promise<string | undefined> {
  const socket = socketPathIn(path.join(base, PREFIX + 'x'.repeat(RANDOM_SUFFIX_LENGTH)));
  if (process.platform !== 'win32' && Buffer.byteLength(socket) > LONGEST_SOCKET_PATH) {
    return `${base} is too long for a socket (${LONGEST_SOCKET_PATH} bytes at most)`;
  }
  try {
    return (await stat(base)).isDirectory() ? undefined : `${base} is not a folder`;
  } catch (error) {
    return messageOf(error);
  }
}

/** Rejects unless the folder is a real one (no link), this user's, and closed to everybody else. */
export async function checkRuntimeFolder(folder: string): Promise<void> {
  const found = await lstat(folder);
  if (!found.isDirectory()) throw unsafe(folder, 'it is not a folder');
  // Windows has no such modes: a user's temporary folder is closed to others by its access list.
  if (process.platform === 'win32') return;
  if (found.uid !== process.getuid?.()) throw unsafe(folder, 'it belongs to another user');
  if ((found.mode & 0o777) !== 0o700) throw unsafe(folder, 'others can enter it');
}

function unsafe(folder: string, why: string): HoldfastError {
  return new HoldfastError('host_unavailable', `${folder} is not safe for a socket: ${why}.`);
}

export async function writeToken(folder: string, token: string): Promise<void> {
  await writeFile(tokenPathIn(folder), token, { mode: 0o600, flag: 'wx' });
}

export async function readToken(folder: string): Promise<string> {
  return readFile(tokenPathIn(folder), 'utf8');
}

export async function removeRuntimeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
