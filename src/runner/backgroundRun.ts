import { systemClock } from '../base/clock';
import { deferred } from '../base/deferred';
import { HoldfastError } from '../base/errors';
import type { Log } from '../base/log';
import { type ArtifactSink } from './artifactSink';
import type {
  BackgroundKernel,
  BackgroundOutcome,
  BackgroundRequest,
  BackgroundSnapshot,
  BackgroundStart,
  OnOutput,
} from './backgroundTypes';
import { endOf, headTextOf, type Execution, type RunEnd } from './backgroundEnd';
import { HeadBuffer } from './headBuffer';
import type { Lease } from './lease';
import { within } from './within';

interface BackgroundRunParts {
  readonly request: BackgroundRequest;
  readonly lease: Lease | undefined;
  readonly artifact: ArtifactSink;
  readonly log: Pick<Log, 'error'> | undefined;
  startKernel(start: BackgroundStart): Promise<BackgroundKernel>;
  onChange(): void;
  /** The kernel is about to be started, the code about to be sent. What this throws fails the launch. */
  onBefore(phase: 'starting' | 'running'): void;
  /** It is over and its fields are published; one that is `undone` never was. */
  onEnd(how: 'done' | 'undone'): void;
}

type Phase =
  | { readonly kind: 'starting' }
  | { readonly kind: 'executing' | 'cleaningUp'; readonly kernel: BackgroundKernel }
  | { readonly kind: 'over'; readonly snapshot: BackgroundSnapshot };

type Kill =
  | { readonly kind: 'none' }
  | { readonly kind: 'sent'; readonly isConfirmed: Promise<boolean> }
  | { readonly kind: 'confirmed' };

/** One run with its kernel and its lease, from the start of the kernel to the release. */
export class BackgroundRun {
  private phase: Phase = { kind: 'starting' };
  private readonly output = new HeadBuffer();
  private readonly starting = new AbortController();
  /** Why it must not go on once its kernel has started. */
  private calledOff: 'closed' | 'interrupted' | undefined;
  private killed: Kill = { kind: 'none' };
  private readonly killConfirmed = deferred<'killed'>();
  private readonly ended = deferred<void>();

  constructor(private readonly parts: BackgroundRunParts) {}

  get request(): BackgroundRequest {
    return this.parts.request;
  }

  get isOver(): boolean {
    return this.phase.kind === 'over';
  }

  /** Starts the kernel and sends the code. Rejects when that failed and all of it is undone. */
  async start(): Promise<void> {
    const { request, onBefore, startKernel } = this.parts;
    let kernel: BackgroundKernel | undefined;
    try {
      onBefore('starting');
      kernel = await startKernel({ request, signal: this.starting.signal });
      this.assertWanted();
      onBefore('running');
    } catch (error) {
      const isGone = kernel === undefined || (await this.cleanUp(kernel));
      if (this.calledOff === 'interrupted') return this.finish({ kind: 'calledOff' }, isGone);
      await this.undo();
      throw this.calledOff === 'closed' ? closed(error) : error;
    }
    this.send(kernel, (onOutput) => kernel.execute(request.code, { onOutput }));
  }

  /** Sends the code, or takes up what was sent. */
  send(
    kernel: BackgroundKernel,
    execute: (onOutput: OnOutput) => Promise<BackgroundOutcome>,
  ): void {
    this.phase = { kind: 'executing', kernel };
    void this.perform(kernel, execute);
    this.parts.onChange();
  }

  /** Resolves, `waitMs` after the call or once it is over, with why the interrupt did not arrive, if that is known. */
  async interrupt(waitMs: number): Promise<string | undefined> {
    const sent: { failure?: string | undefined } = {};
    const { phase } = this;
    if (phase.kind === 'starting') this.callOff('interrupted');
    else if ('kernel' in phase) {
      void this.sendInterrupt(phase.kernel).then((failure) => (sent.failure = failure));
    }
    await within(this.ended.promise, waitMs);
    return sent.failure;
  }

  async kill(waitMs: number): Promise<void> {
    const { phase } = this;
    if (phase.kind === 'starting') this.callOff('interrupted');
    else if ('kernel' in phase) this.sendKill(phase.kernel);
    await within(this.ended.promise, waitMs);
  }

  /** Interrupt, wait, kill, wait. A start is called off. */
  async stop(waitMs: number): Promise<void> {
    this.callOff('closed');
    await this.interrupt(waitMs);
    if (!this.isOver) await this.kill(waitMs);
  }

  snapshot(): BackgroundSnapshot {
    const { phase } = this;
    if (phase.kind === 'over') return phase.snapshot;
    const { artifact, request } = this.parts;
    return {
      executionId: request.executionId,
      status: 'running',
      done: false,
      stdout: this.output.text,
      interrupted: false,
      error: undefined,
      startedAt: request.startedAt,
      endedAt: undefined,
      request,
      phase: phase.kind,
      ...(artifact.path === undefined ? {} : { artifact: artifact.path }),
    };
  }

  private assertWanted(): void {
    if (this.calledOff !== undefined) throw closed(undefined);
  }

  private callOff(why: 'closed' | 'interrupted'): void {
    if (this.phase.kind !== 'starting' || this.calledOff === 'closed') return;
    this.calledOff = why;
    this.starting.abort();
  }

  private async perform(
    kernel: BackgroundKernel,
    execute: (onOutput: OnOutput) => Promise<BackgroundOutcome>,
  ): Promise<void> {
    const execution = await this.executionOf(execute);
    this.phase = { kind: 'cleaningUp', kernel };
    this.parts.onChange();
    await this.finish(execution, await this.cleanUp(kernel));
  }

  private async executionOf(
    execute: (onOutput: OnOutput) => Promise<BackgroundOutcome>,
  ): Promise<Execution> {
    try {
      const outcome = await Promise.race([
        execute((output) => this.take(output)),
        this.killConfirmed.promise,
      ]);
      // What a killed kernel still says of its code is not the code's own end.
      if (outcome === 'killed' || this.killed.kind !== 'none') return { kind: 'killed' };
      if (typeof outcome.stdout === 'string') this.output.complete(outcome.stdout);
      return { kind: 'ended', outcome };
    } catch (error) {
      if (this.killed.kind !== 'none') return { kind: 'killed' };
      this.parts.log?.error('A background run failed.', error);
      return { kind: 'failed' };
    }
  }

  private take(output: Parameters<OnOutput>[0]): void {
    if (this.isOver) return;
    this.output.add(headTextOf(output));
    this.parts.artifact.write(output);
    this.parts.onChange();
  }

  /** Whether the kernel is gone. */
  private async cleanUp(kernel: BackgroundKernel): Promise<boolean> {
    this.phase = { kind: 'cleaningUp', kernel };
    try {
      await Promise.race([kernel.shutdown(), this.killConfirmed.promise]);
      return true;
    } catch (error) {
      // A shutdown fails where a kill comes between; then the kill knows.
      if (await this.isKilled()) return true;
      this.parts.log?.error('The kernel of a background run did not shut down.', error);
      return false;
    }
  }

  private async finish(execution: Execution, isGone: boolean): Promise<void> {
    const isReleased = await this.release();
    await this.parts.artifact.close();
    this.end(endOf(execution, isGone && isReleased), 'done');
  }

  private async undo(): Promise<void> {
    await this.release();
    await this.parts.artifact.close();
    this.end(endOf({ kind: 'failed' }, true), 'undone');
  }

  private async release(): Promise<boolean> {
    try {
      await this.parts.lease?.release();
      return true;
    } catch (error) {
      this.parts.log?.error('The lease of a background run was not released.', error);
      return false;
    }
  }

  private end({ status, interrupted, error }: RunEnd, how: 'done' | 'undone'): void {
    this.output.close();
    const { phase: _phase, ...running } = this.snapshot();
    const snapshot: BackgroundSnapshot = {
      ...running,
      status,
      done: true,
      interrupted,
      error,
      endedAt: systemClock.now(),
      ...(this.killed.kind === 'none' ? {} : { killed: true }),
    };
    this.phase = { kind: 'over', snapshot };
    this.ended.resolve();
    this.parts.onEnd(how);
  }

  /** Why it was not delivered, if that is known. */
  private async sendInterrupt(kernel: BackgroundKernel): Promise<string | undefined> {
    try {
      const verdict = await kernel.interrupt();
      if (verdict?.delivered !== false) return undefined;
      return verdict.reason ?? 'The interrupt was not delivered.';
    } catch (error) {
      this.parts.log?.error('The interrupt of a background run failed.', error);
      return 'The interrupt could not be sent.';
    }
  }

  private sendKill(kernel: BackgroundKernel): void {
    if (this.killed.kind !== 'none') return;
    // A kill that throws at once is one that rejects.
    const kill = (async () => kernel.kill())();
    this.killed = { kind: 'sent', isConfirmed: this.confirmKill(kill) };
  }

  private async confirmKill(kill: Promise<void>): Promise<boolean> {
    try {
      await kill;
      this.killed = { kind: 'confirmed' };
      this.killConfirmed.resolve('killed');
      return true;
    } catch (error) {
      // It may be tried again, and the code may yet end by itself.
      this.killed = { kind: 'none' };
      this.parts.log?.error('The kernel of a background run was not killed.', error);
      return false;
    }
  }

  private async isKilled(): Promise<boolean> {
    switch (this.killed.kind) {
      case 'none':
        return false;
      case 'sent':
        return this.killed.isConfirmed;
      case 'confirmed':
        return true;
    }
  }
}

function closed(cause: unknown): HoldfastError {
  const message = 'Background runs are closed: the launch was called off.';
  return new HoldfastError('closed', message, { cause });
}
