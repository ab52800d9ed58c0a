import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { codeOf, HoldfastError } from '../../base/errors';
import { forEachOf } from './pace';
import { captureId, captureRecord, sha256Hex, type CaptureRecord } from './record';
import { isGone } from './systemErrors';

const MAX_KEPT = 50;
const MAX_BYTES = 512 * 2 ** 20;
/** Another window on the same workspace may be at it. */
const AT_IT_MS = 60 * 60_000;
const FILES_AT_ONCE = 8;
const RECORD = 'capture.json';
const PARTIAL = '.partial';

/** Captures on disk: a folder each, with the record and the texts, which are named by their hashes. */
export class CaptureStore {
  /** What each takes on the disk, in bytes; they never change. */
  private readonly sizes = new Map<string, number>();

  constructor(
    private readonly folder: string,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  /** `texts`: by hash. The oldest captures make room. Rejected, it leaves nothing behind. */
  async add(record: CaptureRecord, texts: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const final = join(this.folder, record.id);
    const partial = final + PARTIAL;
    try {
      await fs.mkdir(partial, { recursive: true, mode: 0o700 });
      await forEachOf(texts, FILES_AT_ONCE, ([sha256, text]) =>
        fs.writeFile(join(partial, sha256), text, { mode: 0o600 }),
      );
      await fs.writeFile(join(partial, RECORD), JSON.stringify(record), { mode: 0o600 });
      await this.makeRoom(await bytesIn(partial));
      // Whoever lists sees all of it or nothing.
      await fs.rename(partial, final);
    } catch (error) {
      // Where that fails too, the next start sweeps it.
      await remove(partial).catch(() => undefined);
      throw error;
    }
  }

  /** Removes what was never completed, as its window ended meanwhile. `now`: ms since the epoch. */
  async sweep(now: number): Promise<void> {
    for (const name of await namesIn(this.folder)) {
      if (!name.endsWith(PARTIAL)) continue;
      const path = join(this.folder, name);
      const stat = await fs.stat(path).catch(unlessGone);
      if (stat && now - stat.mtimeMs > AT_IT_MS) await remove(path);
    }
  }

  /** Newest first. What is not one of ours, or of a later version, is left out. */
  async list(): Promise<readonly CaptureRecord[]> {
    const records: CaptureRecord[] = [];
    for (const id of await this.ids()) {
      const parsed = v.safeParse(captureRecord, await this.read(id));
      if (parsed.success) records.push(parsed.output);
    }
    return records;
  }

  /** Both may come from anyone who can open an address. */
  async text(id: string, sha256: string): Promise<string> {
    if (!v.is(captureId, id) || !v.is(sha256Hex, sha256)) {
      throw new HoldfastError('bad_input', 'This names no text that a capture has kept.');
    }
    return fs.readFile(join(this.folder, id, sha256), 'utf8');
  }

  /** For one more. */
  private async makeRoom(wanted: number): Promise<void> {
    let bytes = wanted;
    for (const [at, id] of (await this.ids()).entries()) {
      bytes += await this.sizeOf(id);
      if (at < MAX_KEPT - 1 && bytes <= this.maxBytes) continue;
      await remove(join(this.folder, id));
      this.sizes.delete(id);
    }
  }

  private async sizeOf(id: string): Promise<number> {
    const size = this.sizes.get(id) ?? (await bytesIn(join(this.folder, id)));
    this.sizes.set(id, size);
    return size;
  }

  /** Newest first. */
  private async ids(): Promise<readonly string[]> {
    const names = await namesIn(this.folder);
    return names
      .filter((name) => v.is(captureId, name))
      .sort()
      .reverse();
  }

  private async read(id: string): Promise<unknown> {
    try {
      return JSON.parse(await fs.readFile(join(this.folder, id, RECORD), 'utf8'));
    } catch (error) {
      if (error instanceof SyntaxError || codeOf(error) !== undefined) return undefined;
      throw error;
    }
  }
}

/** Of all files in a folder. What another window removes meanwhile does not count. */
async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  await forEachOf(await namesIn(folder), FILES_AT_ONCE, async (name) => {
    const stat = await fs.stat(join(folder, name)).catch(unlessGone);
    bytes += stat?.size ?? 0;
  });
  return bytes;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await fs.readdir(folder).catch(unlessGone)) ?? [];
}

function unlessGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}

async function remove(folder: string): Promise<void> {
  await fs.rm(folder, { recursive: true, force: true });
}
