import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { codeOf } from '../../base/errors';
import { forEachOf } from './pace';
import { captureRecord, type CaptureRecord } from './record';

const MAX_KEPT = 50;
const FILES_AT_ONCE = 8;
const RECORD = 'capture.json';
const PARTIAL = '.partial';

/** Captures on disk: a folder each, with the record and the texts, which are named by their hashes. */
export class CaptureStore {
  constructor(private readonly folder: string) {}

  /** `texts`: by hash. The oldest captures make room. */
  async add(record: CaptureRecord, texts: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const final = join(this.folder, record.id);
    const partial = final + PARTIAL;
    await fs.mkdir(partial, { recursive: true, mode: 0o700 });
    await forEachOf(texts, FILES_AT_ONCE, ([sha256, text]) =>
      fs.writeFile(join(partial, sha256), text, { mode: 0o600 }),
    );
    await fs.writeFile(join(partial, RECORD), JSON.stringify(record), { mode: 0o600 });
    // Whoever lists sees all of it or nothing.
    await fs.rename(partial, final);
    const old = (await this.ids()).slice(MAX_KEPT);
    for (const id of old) await fs.rm(join(this.folder, id), { recursive: true, force: true });
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

  async text(id: string, sha256: string): Promise<string> {
    return fs.readFile(join(this.folder, id, sha256), 'utf8');
  }

  private async ids(): Promise<readonly string[]> {
    try {
      const names = await fs.readdir(this.folder);
      return names
        .filter((name) => !name.endsWith(PARTIAL))
        .sort()
        .reverse();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
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
