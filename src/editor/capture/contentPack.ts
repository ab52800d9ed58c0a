import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { asError } from '../../base/errors';

const WRITTEN_AT_ONCE = 2 ** 20;

/** Where a content stands in the pack. */
export interface Packed {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Keeps contents one behind the other in one file, for as long as the window is there: a file each would cost more than
 * reading them did. Nobody else can open it, and it is gone with the process, however that ends.
 */
export class ContentPack {
  private end = 0;
  private written = 0;
  /** Up to here it is in the file for sure. */
  private safe = 0;
  private broken: Error | undefined;
  private readonly waiting: Buffer[] = [];
  private turn: Promise<void> = Promise.resolve();

  private constructor(
    private readonly handle: fs.FileHandle,
    private readonly leftover: string | undefined,
    private readonly maxBytes: number,
  ) {}

  static async open(folder: string, maxBytes: number): Promise<ContentPack> {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `before-${process.pid}-${Date.now()}`);
    const handle = await fs.open(path, 'wx+', 0o600);
    // An open file needs no name; a system that insists on one has it removed at the close.
    const hasName = await fs.unlink(path).then(
      () => false,
      () => true,
    );
    return new ContentPack(handle, hasName ? path : undefined, maxBytes);
  }

  get bytes(): number {
    return this.end;
  }

  /** Why it takes nothing any more: a write to it failed. */
  get failure(): Error | undefined {
    return this.broken;
  }

  /** Undefined: no room for it any more, or the pack has failed. Resolves at once, but for the writing of many at a time. */
  async add(content: Buffer): Promise<Packed | undefined> {
    if (this.broken || this.end + content.length > this.maxBytes) return undefined;
    const at = this.end;
    this.end += content.length;
    this.waiting.push(content);
    if (this.end - this.written >= WRITTEN_AT_ONCE) await this.write();
    return { at, bytes: content.length };
  }

  /** Undefined: it never got into the file, as the pack has failed. */
  async read({ at, bytes }: Packed): Promise<Buffer | undefined> {
    await this.write();
    if (at + bytes > this.safe) return undefined;
    const content = Buffer.alloc(bytes);
    await this.handle.read(content, 0, bytes, at);
    return content;
  }

  private write(): Promise<void> {
    const contents = this.waiting.splice(0);
    const at = this.written;
    this.written = this.end;
    this.turn = this.turn
      .then(() => this.writeAt(contents, at))
      .catch((error: unknown) => {
        this.broken ??= asError(error);
      });
    return this.turn;
  }

  private async writeAt(contents: readonly Buffer[], at: number): Promise<void> {
    if (contents.length === 0 || this.broken) return;
    const bytes = contents.reduce((sum, { length }) => sum + length, 0);
    // A disk that has become full takes a part without an error.
    const { bytesWritten } = await this.handle.writev(contents, at);
    if (bytesWritten < bytes)
      throw new Error(`Only ${bytesWritten} of ${bytes} bytes were written.`);
    this.safe = at + bytes;
  }

  async close(): Promise<void> {
    await this.turn;
    await this.handle.close();
    if (this.leftover !== undefined) await fs.rm(this.leftover, { force: true });
  }
}
