import type { Clock } from '../../base/clock';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Adoption, Place } from '../../hosting';
import type { PooledKernel } from '../../kernel/kernel';
import type { ExecutionResult, StartRequest } from '../../pool/types';
import { createBackgroundRuns } from '../../runner/background';
import type {
  BackgroundKernel,
  BackgroundRecord,
  BackgroundReport,
  BackgroundRequest,
  BackgroundRuns,
  BackgroundRunsOptions,
  BackgroundSnapshot,
  BackgroundStart,
  LaunchOptions,
} from '../../runner/backgroundTypes';
import { parseLease, type Lease } from '../../runner/lease';
import { backgroundKernelOf } from '../../runner/pooledBackground';
import type { Door } from '../door';
import type { Transcript } from '../panel/transcript';
import { keptKeys } from '../reload/keep';
import type { KernelFacts } from '../sessions/kernelRows';
import { ArtifactFile } from './artifactFile';
import { artifactPath, clearOldArtifacts, removeArtifact } from './artifactFolder';
import { KernelWatch } from './kernelWatch';
import { overRunOf, type GoingRun } from './keptRuns';
import { RunDisplay } from './runDisplay';
import { keyOf, sessionOf } from './session';
import { startWithin } from './startWithin';
import { takeUpRuns } from './takeUpRuns';

export interface BackgroundRunsHereParts {
  readonly ownerId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly transcript: Pick<
    Transcript,
    'begin' | 'started' | 'output' | 'sessionOutput' | 'finished' | 'clear'
  >;
  readonly door: Pick<Door, 'record'>;
  readonly newId: () => string;
  /** Where the files of their output are. */
  readonly folder: string;
  readonly enterLease?: NonNullable<BackgroundRunsOptions['enterLease']>;
  startKernel(request: StartRequest): Promise<PooledKernel>;
  startTimeoutMs(): number;
  maxOutputBytes(): number;
  /** Has the kernel host keep a value for the window that comes after this one. */
  keep(key: string, value: unknown): void;
  /** Clears what is kept on disk of the transcript in a tab. */
  clearKept(sessionKey: string): Promise<void>;
  /** A run is over. */
  onEnd(snapshot: BackgroundSnapshot): void;
  onChange(): void;
  /** Tells the person. */
  onFailure(error: unknown): void;
}

/** Runs that are over and that a reload does not take from the person. */
const KEPT_OVER = 16;

/** The background runs of this window: the engine, with kernels, panel, disk and the next window to it. */
export class BackgroundRunsHere {
  private readonly runs: BackgroundRuns;
  private readonly display: RunDisplay;
  private readonly kernels: KernelWatch;
  private readonly going = new Map<string, GoingRun>();
  private readonly continued = new Set<string>();
  private readonly unheeded = new Set<string>();
  private over: string[] = [];
  private hasLeft = false;

  constructor(private readonly parts: BackgroundRunsHereParts) {
    const { transcript, log, newId, enterLease } = parts;
    this.display = new RunDisplay(transcript, parts);
    this.kernels = new KernelWatch(parts.clock, () => parts.onChange());
    this.runs = createBackgroundRuns({
      startKernel: (start) => this.start(start),
      openArtifact: (request) => this.openArtifact(request),
      onRecord: (id, record) => this.recorded(id, record),
      newId,
      log,
      ...(enterLease && { enterLease }),
    });
    this.clearOld();
  }

  async launch(
    code: string,
    options: LaunchOptions & { readonly executionId?: string },
  ): ReturnType<BackgroundRuns['launch']> {
    return this.runs.launch(code, options);
  }

  find(executionId: string): BackgroundSnapshot | undefined {
    return this.runs.list().find((run) => run.executionId === executionId);
  }

  list(): readonly BackgroundSnapshot[] {
    return this.runs.list();
  }

  isUnheeded(executionId: string): boolean {
    return this.unheeded.has(executionId);
  }

  /** What is known of its kernel while it goes on. */
  kernelOf(executionId: string): KernelFacts {
    return this.kernels.look(executionId);
  }

  /** Undefined: it is not one of these. */
  interrupt(executionId: string): Promise<BackgroundReport> | undefined {
    return this.find(executionId) && this.interruptNow(executionId);
  }

  kill(executionId: string): Promise<BackgroundReport> | undefined {
    return this.find(executionId) && this.runs.kill(executionId);
  }

  async remove(executionId: string): Promise<void> {
    const snapshot = this.runs.peek(executionId);
    this.runs.forget(executionId);
    await this.removed(snapshot);
  }

  /** Nobody wants to know of it any more. */
  async removed({ executionId, request, artifact }: BackgroundSnapshot): Promise<void> {
    const key = keyOf(request);
    this.parts.transcript.clear(key);
    this.parts.keep(keptKeys.background(executionId), undefined);
    this.over = this.over.filter((id) => id !== executionId);
    await Promise.all([
      this.parts.clearKept(key),
      artifact === undefined ? undefined : removeArtifact(artifact),
    ]);
  }

  disposeOwner(ownerId: string): Promise<void> {
    return this.runs.disposeOwner(ownerId);
  }

  /** Shows and records one that a hook has supplied the result of. */
  supplied({ request }: BackgroundSnapshot, result: ExecutionResult): void {
    this.display.begin(request);
    this.display.supplied(request, result, this.parts.clock.now());
    this.record(request, result);
  }

  async takeUp(
    adoption: Adoption,
  ): Promise<{ places: readonly Place[]; over: readonly BackgroundSnapshot[] }> {
    const { ownerId, log } = this.parts;
    const { keep } = this.parts;
    const taken = await takeUpRuns(adoption, {
      ownerId,
      log,
      display: this.display,
      keep,
      attend: (request, kernel) => this.attend(request, kernel),
      goOn: async (run, kernel, resume) => {
        const { request } = run;
        const lease = await this.leaseFor(request);
        this.keepGoing(run);
        if (run.artifact !== undefined) this.continued.add(request.executionId);
        this.runs.takeUp({
          ...{ request, kernel: this.watched(kernel, request), resume },
          ...(lease && { lease }),
        });
        this.parts.onChange();
      },
      startAgain: (request) => {
        const { executionId: _id, startedAt: _at, code, ...options } = request;
        this.launch(code, options).catch((error: unknown) => this.parts.onFailure(error));
      },
    });
    this.over.push(...taken.over.map(({ executionId }) => executionId));
    return taken;
  }

  /** What goes on is recorded as it stands: if nobody takes it up, that is the last that is known of it. */
  leave(): void {
    this.hasLeft = true;
    for (const run of this.list()) {
      if (!run.done) this.record(run.request, this.display.leftBehind(run));
    }
  }

  /** It goes on already: where it is refused its lease beside a capture, it goes on without. */
  private async leaseFor(request: BackgroundRequest): Promise<Lease | undefined> {
    const { enterLease, log } = this.parts;
    try {
      return enterLease && parseLease(await enterLease(request));
    } catch (error) {
      log.warn(`${request.executionId} goes on beside a capture: ${messageOf(error)}`);
      return undefined;
    }
  }

  private async interruptNow(executionId: string): Promise<BackgroundReport> {
    const report = await this.runs.interrupt(executionId);
    if (!report.done) this.unheeded.add(executionId);
    this.parts.onChange();
    return report;
  }

  private async start({ request, signal }: BackgroundStart): Promise<BackgroundKernel> {
    this.display.begin(request);
    this.parts.onChange();
    try {
      const { privateTo: _none, interpreter, ...session } = sessionOf(request);
      const kernel = await startWithin(this.parts.startTimeoutMs(), signal, (limited) =>
        this.parts.startKernel({
          ...session,
          ...(interpreter !== undefined && { interpreter }),
          // What is held by agents alone begins with a restricted environment.
          owners: [request.ownerId ?? this.parts.ownerId],
          signal: limited,
        }),
      );
      this.attend(request, kernel);
      return this.watched(backgroundKernelOf(kernel, request.executionId, request.source), request);
    } catch (error) {
      this.display.failed(request, messageOf(error));
      throw error;
    }
  }

  private attend(request: BackgroundRequest, kernel: PooledKernel): void {
    kernel.onDidLateOutput?.((late) => this.display.late(request, late));
    this.kernels.add(request.executionId, kernel);
  }

  /** Tells of its phases, and shows what it puts out. */
  private watched(kernel: BackgroundKernel, request: BackgroundRequest): BackgroundKernel {
    return {
      ...kernel,
      execute: (code, { onOutput }) => {
        this.display.started(request, this.parts.clock.now());
        this.parts.onChange();
        const run = kernel.execute(code, { onOutput: this.display.shown(request, onOutput) });
        return this.display.witness(request, run);
      },
      shutdown: () => {
        this.parts.onChange();
        return kernel.shutdown();
      },
    };
  }

  private openArtifact({ executionId }: BackgroundRequest): ArtifactFile {
    const before = this.going.get(executionId);
    return new ArtifactFile(before?.artifact ?? artifactPath(this.parts.folder, executionId), {
      ...(this.continued.delete(executionId) && {
        continues: { leftOut: before?.leftOut ?? 0 },
      }),
      onLeftOut: (leftOut) => {
        const run = this.going.get(executionId);
        if (run) this.keepGoing({ ...run, leftOut });
      },
      onFailure: (error) => this.parts.onFailure(error),
    });
  }

  private recorded(executionId: string, record: BackgroundRecord | undefined): void {
    if (this.hasLeft) return;
    if (!record) return this.onEnd(executionId);
    const { request, phase } = record;
    const { leftOut = 0, artifact } = this.going.get(executionId) ?? {};
    const path = artifact ?? artifactPath(this.parts.folder, executionId);
    this.keepGoing({ kind: 'going', request, phase, artifact: path, leftOut });
    this.parts.onChange();
  }

  private keepGoing(run: GoingRun): void {
    const { executionId } = run.request;
    this.going.set(executionId, run);
    if (!this.hasLeft) this.parts.keep(keptKeys.background(executionId), run);
  }

  private onEnd(executionId: string): void {
    this.going.delete(executionId);
    this.kernels.remove(executionId);
    this.unheeded.delete(executionId);
    const snapshot = this.find(executionId);
    if (!snapshot) {
      // It never was one.
      this.parts.keep(keptKeys.background(executionId), undefined);
    } else {
      this.parts.keep(keptKeys.background(executionId), overRunOf(snapshot));
      this.over.push(executionId);
      for (const old of this.over.splice(0, this.over.length - KEPT_OVER))
        this.parts.keep(keptKeys.background(old), undefined);
      this.display.finished(snapshot);
      this.record(snapshot.request, this.display.resultOf(snapshot));
      this.parts.onEnd(snapshot);
      this.clearOld();
    }
    this.parts.onChange();
  }

  private record(request: BackgroundRequest, result: ExecutionResult): void {
    const { ownerId = this.parts.ownerId, code, language = 'python', cwd = '' } = request;
    const { origin = 'person', excludeFromContext = false, executionId, startedAt } = request;
    const options = { language, cwd, origin, executionId, excludeFromContext };
    this.parts.door.record(ownerId, code, options, result, startedAt);
  }

  private clearOld(): void {
    const { folder, clock, log } = this.parts;
    clearOldArtifacts(folder, clock.now(), (path) => this.isInUse(path)).catch((error: unknown) =>
      log.warn(`Old output files are not removed: ${messageOf(error)}`),
    );
  }

  private isInUse(path: string): boolean {
    return this.list().some(({ artifact }) => artifact === path);
  }
}
