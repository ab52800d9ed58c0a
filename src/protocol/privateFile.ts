import { readFile, rename, writeFile } from 'node:fs/promises';
import type * as v from 'valibot';
import { HoldfastError } from '../base/errors';
import { parse, type Schema } from './parse';

/** Writes JSON that only this user can read, whole or not at all: whoever reads meanwhile sees the old one. */
export async function writePrivateJson(file: string, value: object): Promise<void> {
  const fresh = `${file}.new`;
  await writeFile(fresh, JSON.stringify(value), { mode: 0o600 });
  await rename(fresh, file);
}

/** Rejects with what the file system says, or with HoldfastError `protocol` where the content is something else. */
export async function readPrivateJson<S extends Schema>(
  file: string,
  schema: S,
  what: string,
): Promise<v.InferOutput<S>> {
  const text = await readFile(file, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HoldfastError('protocol', `Not a valid ${what}: it is not JSON.`, { cause: error });
  }
  return parse(schema, value, what);
}
