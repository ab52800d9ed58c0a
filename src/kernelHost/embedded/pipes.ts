import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import type { Log } from '../../base/log';
import type { StreamName } from '../../kernel/output';
import type { Leader } from '../process/spawn';
import { encodeControlFrame, FrameDecoder, type ControlFrame, type RunnerFrame } from './frames';

/** Characters. */
const STDERR_KEPT = 32_768;

interface PipeListener {
  onFrame(frame: RunnerFrame): void;
  /** What the process, or one that it started, wrote on descriptor 1 or 2 itself. */
  onText(name: StreamName, text: string): void;
  /** A frame was broken: what follows cannot be read. */
  onBroken(error: unknown): void;
  /** The runner closed its frames: it ends, or it has lost its voice. */
  onFramesEnd(): void;
}

/** The four pipes of an embedded runner. */
export class RunnerPipes {
  private readonly decoder = new FrameDecoder();
  private broken = false;
  private stderrKept = '';

  constructor(
    private readonly leader: Leader,
    private readonly listener: PipeListener,
    private readonly log: Log,
  ) {
    this.readText(leader.stdout, 'stdout');
    this.readText(leader.stderr, 'stderr');
    leader.frames.on('data', (chunk: Buffer) => this.readFrames(chunk));
    leader.frames.on('end', () => listener.onFramesEnd());
    leader.frames.on('error', (error) => this.break(error));
    // Nobody reads it any more: the exit event says the rest.
    leader.control.on('error', (error) => this.log.debug(`Control pipe: ${error.message}`));
  }

  /** The end of what came on descriptor 2. */
  get stderr(): string {
    return this.stderrKept;
  }

  send(frame: ControlFrame): void {
    if (this.leader.control.writable) this.leader.control.write(encodeControlFrame(frame));
  }

  /**
   * Resolves when all that was written before now has been read. What was written before the bytes just handled is
   * ready in the same poll of the event loop; once around it, it has been delivered.
   */
  async drain(): Promise<void> {
    for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
  }

  /** Lets go of the pipes, which grandchildren may hold open. */
  close(): void {
    const { stdout, stderr, frames, control } = this.leader;
    for (const stream of [stdout, stderr, frames, control]) stream.destroy();
  }

  private readText(stream: Readable, name: StreamName): void {
    const decoder = new StringDecoder('utf8');
    const tell = (text: string): void => {
      if (text === '') return;
      if (name === 'stderr') this.stderrKept = (this.stderrKept + text).slice(-STDERR_KEPT);
      this.listener.onText(name, text);
    };
    stream.on('data', (chunk: Buffer) => tell(decoder.write(chunk)));
    stream.on('end', () => tell(decoder.end()));
    stream.on('error', (error) => this.log.debug(`${name} pipe: ${error.message}`));
  }

  private readFrames(chunk: Buffer): void {
    if (this.broken) return;
    try {
      this.decoder.read(chunk, (frame) => this.listener.onFrame(frame));
    } catch (error) {
      this.break(error);
    }
  }

  private break(error: unknown): void {
    if (this.broken) return;
    this.broken = true;
    this.listener.onBroken(error);
  }
}
