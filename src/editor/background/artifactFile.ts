import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { asError, messageOf } from '../../base/errors';
import type { KernelOutput } from '../../kernel/output';
import type { OutputArtifact } from '../../runner/backgroundTypes';
import { artifactPieceOf, type ArtifactPiece } from './artifactText';

const MEBI = 1024 * 1024;
const FULL = '\n[The file ends here: it has reached its limit.]\n';

interface ArtifactFileOptions {
  /** Bytes that the file takes at most. Default 1 GiB. */
  readonly maxBytes?: number;
  /** Bytes that wait for a slow disk at most; what comes beyond is left out, and counted. Default 32 MiB. */
  readonly maxWaitingBytes?: number;
  /**
   * The file is there already, and the same stream is told again from its beginning: what stands in the file is passed
   * over. The number is the one that `onLeftOut` told last.
   */
  readonly continues?: { readonly leftOut: number };
  /** Text was left out, so that the stream is so many bytes ahead of the file from here on. */
  onLeftOut?(leftOut: number): void;
  /** Told once; nothing is written any more. */
  onFailure?(error: Error): void;
}

/** The whole output of a run in a file, written as it comes. Nobody waits for the disk. */
export class ArtifactFile implements OutputArtifact {
  private waiting: ArtifactPiece[] = [];
  private waitingBytes = 0;
  private working: Promise<void> | undefined;
  private file: fs.FileHandle | undefined;
  private failure: Error | undefined;
  /** Bytes of the stream that have gone by, and of the file. */
  private at = 0;
  private fileAt = 0;
  /** Up to here the stream stands in the file since before. */
  private covered = 0;
  private isFull = false;

  constructor(
    readonly path: string,
    private readonly options: ArtifactFileOptions = {},
  ) {}

  write(output: KernelOutput | string): void {
    if (this.failure) throw this.failure;
    const piece = artifactPieceOf(output);
    const bytes = piece.kind === 'gap' ? 0 : Buffer.byteLength(piece.text);
    const { maxWaitingBytes = 32 * MEBI } = this.options;
    if (this.waitingBytes + bytes > maxWaitingBytes) this.wait({ kind: 'gap', bytes }, 0);
    else this.wait(piece, bytes);
    this.begin();
  }

  /** Resolves when what was written is in the file. Rejects with what went wrong. */
  async close(): Promise<void> {
    this.begin();
    await this.working;
    await this.file?.close();
    this.file = undefined;
    if (this.failure) throw this.failure;
  }

  private wait(piece: ArtifactPiece, bytes: number): void {
    const last = this.waiting.at(-1);
    if (piece.kind === 'gap' && last?.kind === 'gap')
      this.waiting[this.waiting.length - 1] = { kind: 'gap', bytes: last.bytes + piece.bytes };
    else this.waiting.push(piece);
    this.waitingBytes += bytes;
  }

  private begin(): void {
    this.working ??= this.work().finally(() => (this.working = undefined));
  }

  private async work(): Promise<void> {
    if (this.failure) return;
    try {
      this.file ??= await this.open();
      while (this.waiting.length > 0) await this.file.appendFile(this.takeWaiting());
    } catch (error) {
      await this.fail(asError(error));
    }
  }

  private async open(): Promise<fs.FileHandle> {
    await fs.mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const file = await fs.open(this.path, 'a', 0o600);
    this.fileAt = (await file.stat()).size;
    this.covered = this.fileAt + (this.fileAt > 0 ? (this.options.continues?.leftOut ?? 0) : 0);
    return file;
  }

  private takeWaiting(): Buffer {
    const pieces = this.waiting;
    this.waiting = [];
    this.waitingBytes = 0;
    return Buffer.concat(pieces.map((piece) => this.take(piece)));
  }

  /** What of a piece has to be written. */
  private take(piece: ArtifactPiece): Buffer {
    const from = Math.max(this.at, this.covered);
    if (piece.kind === 'gap') {
      this.at += piece.bytes;
      const missing = this.at - from;
      if (missing <= 0) return nothing;
      const mark = this.within(Buffer.from(`\n[${missing} bytes are left out here.]\n`));
      this.options.onLeftOut?.(this.at - this.fileAt);
      return mark;
    }
    const bytes = Buffer.from(piece.text);
    const known = from - this.at;
    this.at += bytes.length;
    return known >= bytes.length ? nothing : this.within(bytes.subarray(known));
  }

  private within(bytes: Buffer): Buffer {
    const { maxBytes = 1024 * MEBI } = this.options;
    if (this.isFull || this.fileAt >= maxBytes) return nothing;
    const room = maxBytes - this.fileAt;
    this.isFull = bytes.length > room;
    const taken = this.isFull ? Buffer.concat([bytes.subarray(0, room), Buffer.from(FULL)]) : bytes;
    this.fileAt += taken.length;
    return taken;
  }

  private async fail(cause: Error): Promise<void> {
    this.waiting = [];
    this.waitingBytes = 0;
    this.failure = new Error(
      `The output of a background run is no longer kept in ${this.path}: ${messageOf(cause)}`,
      { cause },
    );
    this.options.onFailure?.(this.failure);
    const { file } = this;
    this.file = undefined;
    // Nobody closes it later: who wrote to it lets go of it at the failure. What went wrong first has been told.
    await file?.close().catch(() => undefined);
  }
}

const nothing = Buffer.alloc(0);
