import * as v from 'valibot';
import { HoldfastError, messageOf } from '../../base/errors';

/**
 * Frames between the kernel host and an embedded runner, on descriptors of their own (3: host to runner, 4: runner to
 * host): a 4-byte big-endian length, then that many bytes of JSON in ASCII. Escaping everything else is what lets lone
 * surrogates through.
 */

const headerBytes = 4;
const mebibyte = 1024 * 1024;

/** A display holds at most 32 MiB, which escaping can double; what is longer is no frame of ours. */
export const maxFrameBytes = 64 * mebibyte;

const run = v.nullable(v.string());
const bundle = v.record(v.string(), v.unknown());

const runnerFrame = v.variant('op', [
  v.object({
    op: v.literal('ready'),
    pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
    language: v.string(),
    version: v.string(),
    executable: v.string(),
    prefix: v.string(),
  }),
  /** From now on an interrupt reaches its code. */
  v.object({ op: v.literal('begun'), run: v.string() }),
  v.object({
    op: v.literal('stream'),
    run,
    name: v.picklist(['stdout', 'stderr']),
    text: v.string(),
  }),
  v.object({
    op: v.literal('display'),
    run,
    data: bundle,
    metadata: bundle,
    displayId: v.exactOptional(v.string()),
    update: v.exactOptional(v.literal(true)),
  }),
  v.object({ op: v.literal('result'), run, data: bundle, metadata: bundle }),
  v.object({
    op: v.literal('error'),
    run,
    name: v.string(),
    value: v.string(),
    traceback: v.string(),
  }),
  v.object({ op: v.literal('clear'), run, wait: v.boolean() }),
  v.object({ op: v.literal('input'), run, prompt: v.string(), password: v.boolean() }),
  v.object({
    op: v.literal('done'),
    run: v.string(),
    status: v.picklist(['ok', 'error']),
    interrupted: v.boolean(),
    stdinRequested: v.boolean(),
    /** The working directory, where it is another one than was told before. */
    cwd: v.exactOptional(v.string()),
  }),
  /** Its interpreter runs: the answer to a ping, from a thread that user code can't hold up but by holding the GIL. */
  v.object({ op: v.literal('pong') }),
]);

/** What a runner says. `run` is the id of the execution it belongs to; null: the session's, of no known run. */
export type RunnerFrame = v.InferOutput<typeof runnerFrame>;

/** What the kernel host says to a runner. */
export type ControlFrame =
  | {
      readonly op: 'execute';
      readonly id: string;
      readonly code: string;
      /** Tracebacks name it and `__file__` holds it while the run lasts. */
      readonly file?: string | null;
      /** 1-based line in `file` of the first line of the code. */
      readonly line?: number;
      /** Somebody can answer `input()`. */
      readonly stdin: boolean;
    }
  /** The answer for the run `id`; null is end of file, which is not an empty line. */
  | { readonly op: 'input'; readonly id: string; readonly text: string | null }
  | { readonly op: 'ping' }
  /** Where there are no signals (Windows). */
  | { readonly op: 'interrupt' }
  /** Leave by the interpreter's normal exit once nothing runs. */
  | { readonly op: 'exit' };

/** A control frame, ready to be written as it is. */
export function encodeControlFrame(frame: ControlFrame): Buffer {
  const json = JSON.stringify(frame).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const bytes = Buffer.allocUnsafe(headerBytes + json.length);
  bytes.writeUInt32BE(json.length, 0);
  bytes.write(json, headerBytes, 'latin1');
  return bytes;
}

/** Parses the JSON of one frame. Throws a `protocol` error that names what was wrong and where. */
export function parseRunnerFrame(json: string): RunnerFrame {
  let input: unknown;
  try {
    input = JSON.parse(json);
  } catch (error) {
    throw protocolError(`not JSON (${messageOf(error)}): ${excerpt(json)}`);
  }
  const result = v.safeParse(runnerFrame, input);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue);
  throw protocolError(`${where === null ? '' : `${where}: `}${issue.message} in ${excerpt(json)}`);
}

/**
 * Cuts a stream of bytes into frames, however it is split. A stream that once was broken has no boundaries left: after
 * an error every further push throws the same one.
 */
export class FrameDecoder {
  private chunks: Buffer[] = [];
  private held = 0;
  /** Length of the frame whose header has been read. */
  private awaited: number | undefined;
  private broken: HoldfastError | undefined;

  constructor(private readonly limitBytes = maxFrameBytes) {}

  /** Bytes of a frame that has not come to its end. At the stream's end, more than 0 means that it was cut. */
  get pendingBytes(): number {
    return this.held + (this.awaited === undefined ? 0 : headerBytes);
  }

  /** The frames that these bytes complete, in order. Throws a `protocol` error. */
  push(chunk: Buffer): RunnerFrame[] {
    const frames: RunnerFrame[] = [];
    this.read(chunk, (frame) => frames.push(frame));
    return frames;
  }

  /** As `push`, but hands over each frame before it looks at the next one, so that a bad one costs none before it. */
  read(chunk: Buffer, onFrame: (frame: RunnerFrame) => void): void {
    if (this.broken) throw this.broken;
    this.chunks.push(chunk);
    this.held += chunk.length;
    for (let frame = this.nextFrame(); frame !== undefined; frame = this.nextFrame()) {
      onFrame(frame);
    }
  }

  private nextFrame(): RunnerFrame | undefined {
    try {
      const json = this.next();
      return json === undefined ? undefined : parseRunnerFrame(json);
    } catch (error) {
      this.broken = error instanceof HoldfastError ? error : protocolError(messageOf(error));
      this.chunks = [];
      throw this.broken;
    }
  }

  private next(): string | undefined {
    if (this.awaited === undefined) {
      const length = this.take(headerBytes)?.readUInt32BE(0);
      if (length === undefined) return undefined;
      if (length > this.limitBytes) {
        throw protocolError(`a length of ${length} bytes is over the limit of ${this.limitBytes}`);
      }
      this.awaited = length;
    }
    const body = this.take(this.awaited);
    if (body === undefined) return undefined;
    this.awaited = undefined;
    return body.toString('latin1');
  }

  /** Takes that many bytes off the front. Chunks are joined only once they suffice, so that a long frame costs no more than its length. */
  private take(count: number): Buffer | undefined {
    if (this.held < count) return undefined;
    const [first] = this.chunks;
    const joined =
      first !== undefined && first.length >= count ? first : Buffer.concat(this.chunks);
    if (joined !== first) this.chunks = [joined];
    const taken = joined.subarray(0, count);
    const rest = joined.subarray(count);
    if (rest.length > 0) this.chunks[0] = rest;
    else this.chunks.shift();
    this.held -= count;
    return taken;
  }
}

function protocolError(problem: string): HoldfastError {
  return new HoldfastError('protocol', `The runner sent a bad frame: ${problem}.`);
}

function excerpt(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 120)}…`;
}
