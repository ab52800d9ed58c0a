import { promises as fs } from 'node:fs';
import { join } from 'node:path';

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
  private readonly waiting: Buffer[] = [];
  private turn: Promise<unknown> = Promise.resolve();

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

  /** Undefined: there is no room for it any more. Resolves at once, but for the writing of many at a time. */
  async add(content: Buffer): Promise<Packed | undefined> {
    if (this.end + content.length > this.maxBytes) return undefined;
    const at = this.end;
    this.end += content.length;
    this.waiting.push(content);
    if (this.end - this.written >= WRITTEN_AT_ONCE) await this.write();
    return { at, bytes: content.length };
  }

  async read({ at, bytes }: Packed): Promise<Buffer> {
    await this.write();
    const content = Buffer.alloc(bytes);
    await this.handle.read(content, 0, bytes, at);
    return content;
  }

  private write(): Promise<void> {
    const contents = this.waiting.splice(0);
    const at = this.written;
    this.written = this.end;
    const written = this.turn.then(async () => {
      if (contents.length > 0) await this.handle.writev(contents, at);
    });
    this.turn = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.turn;
    await this.handle.close();
    if (this.leftover !== undefined) await fs.rm(this.leftover, { force: true });
  }
}
