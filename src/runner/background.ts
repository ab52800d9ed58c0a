import { systemClock } from '../base/clock';
import { HoldfastError } from '../base/errors';
import { Emitter } from '../base/event';
import { ArtifactSink } from './artifactSink';
import { BackgroundRun } from './backgroundRun';
import type {
  BackgroundReport,
  BackgroundRequest,
  BackgroundRuns,
  BackgroundRunsOptions,
  BackgroundSnapshot,
  EarlierBackgroundRun,
  LaunchOptions,
} from './backgroundTypes';
import { parseLease, type Lease } from './lease';

const MAX_RUNNING = 16;
const MAX_DONE = 200;
const HEED_WAIT_MS = 5_000;

/** Runs beside the retained sessions, each in a kernel of its own that ends with it. */
export function createBackgroundRuns(options: BackgroundRunsOptions): BackgroundRuns {
  return new Runs(options);
}

/** A launch that waits for its lease. */
interface Entering {
  readonly ownerId: string | undefined;
  isCalledOff: boolean;
}

class Runs implements BackgroundRuns {
  private readonly runs = new Map<string, BackgroundRun>();
  private readonly entering = new Set<Entering>();
  private readonly changed = new Emitter<{ readonly executionId: string }>();
  private isClosed = false;

  constructor(private readonly parts: BackgroundRunsOptions) {}

  readonly onDidChange = this.changed.event;

  async launch(
    code: string,
    options: LaunchOptions & { readonly executionId?: string } = {},
  ): Promise<{ readonly executionId: string; readonly status: 'running' }> {
    const { newId = () => globalThis.crypto.randomUUID() } = this.parts;
    const { executionId = newId() } = options;
    const request = { ...options, executionId, code, startedAt: systemClock.now() };
    const entering = { ownerId: options.ownerId, isCalledOff: false };
    this.entering.add(entering);
    const lease = await this.lease(request).finally(() => this.entering.delete(entering));
    const refusal = this.refusal(entering);
    if (refusal) {
      await this.giveBack(lease);
      throw refusal;
    }
    await this.register(request, lease).start();
    return { executionId, status: 'running' };
  }

  peek(executionId: string): BackgroundSnapshot {
    return this.find(executionId).snapshot();
  }

  list(): readonly BackgroundSnapshot[] {
    return [...this.runs.values()].map((run) => run.snapshot());
  }

  async interrupt(executionId: string): Promise<BackgroundReport> {
    const run = this.find(executionId);
    if (run.isOver) return run.snapshot();
    const failure = await run.interrupt(HEED_WAIT_MS);
    return {
      ...run.snapshot(),
      ...(failure === undefined ? {} : { interruptUndelivered: failure }),
    };
  }

  async kill(executionId: string): Promise<BackgroundReport> {
    const run = this.find(executionId);
    if (!run.isOver) await run.kill(HEED_WAIT_MS);
    return run.snapshot();
  }

  async shutdown({ timeoutPerRunMs = HEED_WAIT_MS } = {}): Promise<number> {
    this.isClosed = true;
    const running = this.running();
    await Promise.all(running.map((run) => run.stop(timeoutPerRunMs)));
    return running.length;
  }

  async disposeOwner(ownerId: string): Promise<void> {
    for (const launch of this.entering) {
      if (launch.ownerId === ownerId) launch.isCalledOff = true;
    }
    const own = this.running().filter((run) => run.request.ownerId === ownerId);
    await Promise.all(own.map((run) => run.stop(HEED_WAIT_MS)));
    const left = own.filter((run) => !run.isOver).length;
    if (left === 0) return;
    throw new HoldfastError(
      'stop_unconfirmed',
      `Background runs that did not end, though killed: ${left}.`,
    );
  }

  forget(executionId: string): void {
    if (!this.find(executionId).isOver) {
      throw new HoldfastError('bad_input', 'Only a run that is done can be forgotten.');
    }
    this.remove(executionId);
  }

  takeUp({ request, kernel, lease, resume }: EarlierBackgroundRun): void {
    const run = this.register(request, lease);
    run.send(kernel, (onOutput) => resume({ onOutput }));
  }

  private async lease(request: BackgroundRequest): Promise<Lease | undefined> {
    if (!this.parts.enterLease) return undefined;
    return parseLease(await this.parts.enterLease(request));
  }

  /** A refusal is told as it is, also where the lease makes trouble. */
  private async giveBack(lease: Lease | undefined): Promise<void> {
    try {
      await lease?.release();
    } catch (error) {
      this.parts.log?.error('The lease of a refused background run was not released.', error);
    }
  }

  /** Asked in the same synchronous step that registers. */
  private refusal({ isCalledOff }: Entering): HoldfastError | undefined {
    if (this.isClosed || isCalledOff) {
      return new HoldfastError('closed', 'Background runs are closed: nothing is launched.');
    }
    const { maxRunning = MAX_RUNNING } = this.parts;
    if (this.running().length < maxRunning) return undefined;
    return new HoldfastError(
      'too_many_runs',
      `${maxRunning} background runs are going on. Wait for one to end, or stop one.`,
    );
  }

  private register(request: BackgroundRequest, lease: Lease | undefined): BackgroundRun {
    const { log } = this.parts;
    const { executionId } = request;
    const run = new BackgroundRun({
      request,
      lease,
      artifact: new ArtifactSink(() => this.parts.openArtifact?.(request), log),
      log,
      startKernel: (start) => this.parts.startKernel(start),
      onChange: () => this.changed.fire({ executionId }),
      onBefore: (phase) => this.parts.onRecord?.(executionId, { request, phase }),
      onEnd: (how) => this.ended(executionId, how),
    });
    this.runs.set(executionId, run);
    this.changed.fire({ executionId });
    return run;
  }

  private ended(executionId: string, how: 'done' | 'undone'): void {
    if (how === 'undone') this.runs.delete(executionId);
    this.dropOldest();
    this.changed.fire({ executionId });
    try {
      this.parts.onRecord?.(executionId, undefined);
    } catch (error) {
      this.parts.log?.error('The record of a background run could not be cleared.', error);
    }
  }

  private dropOldest(): void {
    const done = [...this.runs.values()].filter(({ isOver }) => isOver);
    const tooMany = done.length - (this.parts.maxDone ?? MAX_DONE);
    for (const old of done.slice(0, Math.max(0, tooMany))) this.remove(old.request.executionId);
  }

  private remove(executionId: string): void {
    this.runs.delete(executionId);
    this.changed.fire({ executionId });
  }

  private running(): readonly BackgroundRun[] {
    return [...this.runs.values()].filter(({ isOver }) => !isOver);
  }

  private find(executionId: string): BackgroundRun {
    const run = this.runs.get(executionId);
    if (run) return run;
    throw new HoldfastError('run_not_found', `There is no background run ${executionId}.`);
  }
}
