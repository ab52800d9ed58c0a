import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import {
  encodeControlFrame,
  FrameDecoder,
  type ControlFrame,
  type RunnerFrame,
} from '../../src/kernelHost/embedded/frames';
import { pythonLaunch } from '../../src/kernelHost/embedded/python';

export const runnerFile = path.resolve(__dirname, '../../media/runners/runner.py');

/** What came from the runner, in the order in which it was read: frames, and bytes on descriptors 1 and 2. */
export type Heard = RunnerFrame | { op: 'bytes'; fd: 1 | 2; text: string };
type Frame<Op extends RunnerFrame['op']> = Extract<RunnerFrame, { op: Op }>;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunOptions {
  readonly id?: string;
  readonly file?: string;
  readonly line?: number;
  readonly stdin?: boolean;
}

/** What one run put out, from the frames that carry its id. */
export class RunRecord {
  constructor(
    readonly done: Frame<'done'>,
    readonly heard: readonly Heard[],
  ) {}

  frames<Op extends RunnerFrame['op']>(op: Op): Frame<Op>[] {
    return this.heard.filter(
      (item): item is Frame<Op> => item.op === op && 'run' in item && item.run === this.done.run,
    );
  }

  text(name: 'stdout' | 'stderr' = 'stdout'): string {
    return this.frames('stream')
      .filter((frame) => frame.name === name)
      .map((frame) => frame.text)
      .join('');
  }

  /** Streams of the run and bytes of its children, as a person would read them. */
  get everything(): string {
    return this.heard
      .map((item) => (item.op === 'stream' || item.op === 'bytes' ? item.text : ''))
      .join('');
  }

  get result(): unknown {
    return this.frames('result')[0]?.data['text/plain'];
  }

  get error(): Frame<'error'> | undefined {
    return this.frames('error')[0];
  }
}

/** A runner as the kernel host starts one, whose every word is kept. `stop` it in the end. */
export class RunnerProcess {
  readonly heard: Heard[] = [];
  readonly exited: Promise<Exit>;
  private readonly waiting = new Set<() => void>();
  private readonly decoder = new FrameDecoder();
  private broken: Error | undefined;
  private exit: Exit | undefined;
  private count = 0;
  /** By id: how much had been heard when the run was sent. */
  private readonly begun = new Map<string, number>();

  private constructor(
    private readonly child: ChildProcess,
    private readonly keep: (item: Heard) => boolean,
  ) {
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.exit = { code, signal };
        resolve(this.exit);
        this.wake();
      });
    });
    for (const fd of [1, 2] as const) {
      this.readable(fd).on('data', (bytes: Buffer) =>
        this.hear([{ op: 'bytes', fd, text: bytes.toString() }]),
      );
    }
    this.readable(4).on('data', (bytes: Buffer) => {
      try {
        this.hear(this.decoder.push(bytes));
      } catch (error) {
        this.broken = error instanceof Error ? error : new Error(String(error));
        this.wake();
      }
    });
    this.readable(4).once('end', () => this.wake());
    // A runner that dies under a write is told by its exit.
    this.control.on('error', () => undefined);
  }

  /** Starts one and waits until it is ready. What `keep` refuses is counted nowhere: floods are tallied as they pass. */
  static async start(
    options: {
      interpreter?: string;
      cwd?: string;
      env?: NodeJS.ProcessEnv;
      keep?: (item: Heard) => boolean;
    } = {},
  ): Promise<RunnerProcess> {
    const launch = pythonLaunch(
      options.interpreter ?? process.env['HOLDFAST_TEST_PYTHON'] ?? 'python3',
      runnerFile,
    );
    const child = spawn(launch.command, launch.args, {
      cwd: options.cwd,
      env: { ...process.env, ...launch.env, ...options.env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    const runner = new RunnerProcess(child, options.keep ?? (() => true));
    await runner.until((item) => item.op === 'ready');
    return runner;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get ready(): Frame<'ready'> {
    const frame = this.heard.find((item) => item.op === 'ready');
    if (frame?.op !== 'ready') throw new Error('The runner is not ready.');
    return frame;
  }

  get control(): Writable {
    return this.child.stdio[3] as Writable;
  }

  send(frame: ControlFrame): void {
    this.control.write(encodeControlFrame(frame));
  }

  /** Sends code without waiting; its id. */
  begin(code: string, options: RunOptions = {}): string {
    this.count += 1;
    const id = options.id ?? `r${this.count}`;
    this.begun.set(id, this.heard.length);
    const { file, line } = options;
    this.send({
      op: 'execute',
      id,
      code,
      stdin: options.stdin ?? false,
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
    });
    return id;
  }

  /** What a run put out until it was done. */
  async finish(id: string): Promise<RunRecord> {
    const done = await this.until((item) => item.op === 'done' && item.run === id);
    if (done.op !== 'done') throw new Error('Not a done frame.');
    return new RunRecord(done, this.heard.slice(this.begun.get(id), this.heard.indexOf(done) + 1));
  }

  run(code: string, options: RunOptions = {}): Promise<RunRecord> {
    return this.finish(this.begin(code, options));
  }

  /** The first thing heard that fits, now or later. Rejects when the runner is gone or talks nonsense. */
  async until(fits: (item: Heard) => boolean): Promise<Heard> {
    let from = 0;
    for (;;) {
      for (; from < this.heard.length; from += 1) {
        const item = this.heard[from];
        if (item !== undefined && fits(item)) return item;
      }
      if (this.broken !== undefined) throw this.broken;
      if (this.exit !== undefined && this.readable(4).readableEnded) {
        throw new Error(
          `The runner is gone (${JSON.stringify(this.exit)}): ${JSON.stringify(this.heard.slice(-5))}`,
        );
      }
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }

  /** All that a run printed by streams, once it contains the text. */
  async printed(run: string, text: string): Promise<void> {
    await this.until(() =>
      this.heard
        .map((item) => (item.op === 'stream' && item.run === run ? item.text : ''))
        .join('')
        .includes(text),
    );
  }

  interrupt(): void {
    process.kill(-this.pid, 'SIGINT');
  }

  /** Ends the group, whatever it does, and waits for the exit. */
  async stop(): Promise<Exit> {
    if (this.exit === undefined) process.kill(-this.pid, 'SIGKILL');
    return this.exited;
  }

  private readable(fd: 1 | 2 | 4): Readable {
    return this.child.stdio[fd] as Readable;
  }

  private hear(items: readonly Heard[]): void {
    for (const item of items) if (this.keep(item)) this.heard.push(item);
    this.wake();
  }

  private wake(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
