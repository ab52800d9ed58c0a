import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../base/errors';

const KEPT_FILES = 50;
const KEPT_MS = 14 * 24 * 60 * 60_000;
/** Another window on the same workspace may be writing to it. */
const TOUCHED_LATELY_MS = 60 * 60_000;

const ENDING = '.txt';

export function artifactPath(folder: string, executionId: string): string {
  return join(folder, `${executionId}${ENDING}`);
}

/** Removes the files of old runs: those beyond the newest 50, and those that are older than 14 days. */
export async function clearOldArtifacts(
  folder: string,
  now: number,
  isInUse: (path: string) => boolean,
): Promise<void> {
  const files = await filesIn(folder);
  files.sort((a, b) => b.touchedAt - a.touchedAt);
  const old = files.filter(
    ({ path, touchedAt }, at) =>
      !isInUse(path) &&
      now - touchedAt > TOUCHED_LATELY_MS &&
      (at >= KEPT_FILES || now - touchedAt > KEPT_MS),
  );
  await Promise.all(old.map(({ path }) => removeArtifact(path)));
}

export async function removeArtifact(path: string): Promise<void> {
  await fs.rm(path, { force: true });
}

/** The first characters of a file; `''` where there is none. */
export async function headOfArtifact(path: string, maxBytes: number): Promise<string> {
  const file = await fs.open(path, 'r').catch(unlessMissing);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: true });
  } finally {
    await file.close();
  }
}

async function filesIn(folder: string): Promise<{ path: string; touchedAt: number }[]> {
  const names = (await fs.readdir(folder).catch(unlessMissing)) ?? [];
  const files = names.filter((name) => name.endsWith(ENDING)).map((name) => join(folder, name));
  return Promise.all(
    files.map(async (path) => ({
      path,
      // One that another window has just removed counts as new.
      touchedAt: (await fs.stat(path).catch(unlessMissing))?.mtimeMs ?? Number.POSITIVE_INFINITY,
    })),
  );
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
