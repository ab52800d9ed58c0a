import { createHash } from 'node:crypto';
import fs, { createReadStream } from 'node:fs';
import { isOfSystem } from './systemErrors';
import type { FileStat } from './walk';

/** What is in a file. */
export interface Content {
  /** SHA-256 in hex; of a link, of where it points. Undefined: the file is too large to read. */
  readonly sha256: string | undefined;
  /** Of text within the bound. */
  readonly text: Buffer | undefined;
}

// git's own: a NUL this early makes a file binary.
const SNIFFED_BYTES = 8_000;

interface ReadLimits {
  readonly maxTextBytes: number;
  readonly maxHashBytes: number;
}

/** Undefined: it is gone, or can't be read. */
export async function readContent(
  file: string,
  { size, isLink }: FileStat,
  { maxTextBytes, maxHashBytes }: ReadLimits,
  signal?: AbortSignal,
): Promise<Content | undefined> {
  try {
    if (isLink) return contentOf(Buffer.from(fs.readlinkSync(file)));
    if (size <= maxTextBytes) return contentOf(fs.readFileSync(file));
    if (size > maxHashBytes) return { sha256: undefined, text: undefined };
    return { sha256: await hashOf(file, signal), text: undefined };
  } catch (error) {
    signal?.throwIfAborted();
    if (isOfSystem(error)) return undefined;
    throw error;
  }
}

function contentOf(bytes: Buffer): Content {
  const isText = !bytes.subarray(0, SNIFFED_BYTES).includes(0);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { sha256, text: isText ? bytes : undefined };
}

/** In pieces, for what is large. */
async function hashOf(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const pieces = createReadStream(file, { highWaterMark: 2 ** 18, signal });
  for await (const piece of pieces as AsyncIterable<Buffer>) hash.update(piece);
  return hash.digest('hex');
}
