import { access } from 'node:fs/promises';
import type { Clock } from '../../base/clock';
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { ShownRun, Transcript } from '../panel/transcript';
import { nameOfKey } from '../sessions/target';
import type { Header, KeptRun } from './keptRun';
import type { LeftOut } from './leftOut';
import type { RecordLimits } from './limits';
import type { KeptSession, RecordFiles } from './recordFiles';
import { earlierOf, keptAgain, keptRunOf, type RecordedRun } from './shown';

/** Between two times that runs are kept again whose output goes on after their end. */
const LATE_EVERY_MS = 10_000;

export interface RecordsParts {
  readonly files: RecordFiles;
  readonly transcript: Pick<Transcript, 'shownRun' | 'setKept' | 'hasEarlier' | 'addEarlier'>;
  readonly leftOut: Pick<LeftOut, 'has'>;
  readonly limits: RecordLimits;
  /** By the settings, for code that runs in a folder. */
  mayKeep(folder: string): Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Waiting {
  readonly executionId: string;
  readonly session: Header;
  run: () => KeptRun;
}

/**
 * Keeps on disk what each session showed. All that touches the disk is done one after the other, and never on the path
 * of a run. What cannot be written waits, within bounds, for the next try.
 */
export class Records {
  private waiting: Waiting[] = [];
  private readonly lateRuns = new Set<string>();
  private lateTimer: Disposable | undefined;
  private tail: Promise<void> = Promise.resolve();
  /** A write stands in line. */
  private isDue = false;
  /** Has been told, as what follows. */
  private isFailing = false;
  private isDropping = false;

  constructor(private readonly parts: RecordsParts) {}

  /** Of a run that is over and still shown: what was cleared meanwhile is not kept. */
  record(record: RecordedRun): void {
    const shown = this.toKeep(record.executionId ?? '');
    if (shown === undefined) return;
    this.wait(shown, () => keptRunOf(record, shown, this.parts.limits));
    if (this.isDue) return;
    this.isDue = true;
    void this.inTurn(() => this.write());
  }

  /** A run that is over shows something else than when it was kept. It is kept again in a while, or at the next flush. */
  keepAgain(executionId: string): void {
    this.lateRuns.add(executionId);
    this.lateTimer ??= this.parts.clock.after(LATE_EVERY_MS, () => {
      this.lateTimer = undefined;
      void this.flush();
    });
  }

  /** Resolves when all that was recorded before is written, or could not be. */
  async flush(): Promise<void> {
    void this.inTurn(() => this.waitLate());
    // What has failed before is tried once more.
    await this.inTurn(() => this.write());
  }

  /** Shows the transcripts of earlier sessions in the list of sessions. */
  async list(): Promise<void> {
    await this.inTurn(async () => this.parts.transcript.setKept(await this.parts.files.list()));
  }

  /** Shows what was kept of a session before what it shows now, if that is not done yet. */
  async load(sessionKey: string): Promise<void> {
    const { transcript, files, log } = this.parts;
    await this.inTurn(async () => {
      if (transcript.hasEarlier(sessionKey)) return;
      const { runs, damaged } = await files.read(sessionKey);
      transcript.addEarlier(sessionKey, (await Promise.all(runs.map(withArtifact))).map(earlierOf));
      if (damaged > 0) log.warn(`${damaged} damaged entries of a kept transcript are left out.`);
    });
  }

  /** What is kept now. Rejects as the disk does. */
  kept(): Promise<KeptSession[]> {
    return this.result(() => this.parts.files.list());
  }

  /** Of one session, or of all of the workspace; what waits to be written is dropped. Rejects as the disk does. */
  clear(sessionKey?: string): Promise<void> {
    this.waiting = this.waiting.filter(
      ({ session }) => sessionKey !== undefined && session.key !== sessionKey,
    );
    return this.result(async () => {
      await this.parts.files.clear(sessionKey);
      this.parts.transcript.setKept(await this.parts.files.list());
    });
  }

  private toKeep(executionId: string): ShownRun | undefined {
    const shown = this.parts.transcript.shownRun(executionId);
    return shown && !this.parts.leftOut.has(shown.sessionKey) ? shown : undefined;
  }

  private wait(
    { executionId, sessionKey, sessionLabel, head }: ShownRun,
    run: () => KeptRun,
  ): void {
    const { limits, log } = this.parts;
    const session = { key: sessionKey, label: sessionLabel, language: head.language };
    this.waiting.push({ executionId, session, run });
    if (this.waiting.length <= limits.waitingRuns) return;
    this.waiting.shift();
    if (!this.isDropping) log.warn('Runs are not kept: the disk does not take those before them.');
    this.isDropping = true;
  }

  /** What was not kept before, or is no longer, stays so. */
  private async waitLate(): Promise<void> {
    const { files, limits } = this.parts;
    for (const executionId of this.lateRuns) {
      const key = this.toKeep(executionId)?.sessionKey;
      const waits = this.waiting.findLast((each) => each.executionId === executionId)?.run();
      const kept = waits ?? (key === undefined ? undefined : await files.find(key, executionId));
      // After the look: what came meanwhile is told of no second time.
      const shown = this.toKeep(executionId);
      this.lateRuns.delete(executionId);
      if (shown && kept) this.wait(shown, () => keptAgain(kept, shown, limits));
    }
  }

  /** What fails is told in the log. */
  private async inTurn(task: () => Promise<void>): Promise<void> {
    try {
      await this.result(task);
    } catch (error) {
      this.parts.log.warn(`The kept transcripts cannot be reached: ${messageOf(error)}`);
    }
  }

  private result<T>(task: () => Promise<T>): Promise<T> {
    const result = this.tail.then(task);
    this.tail = result.then(nothing, nothing);
    return result;
  }

  private async write(): Promise<void> {
    // The result of the run goes first.
    await new Promise((resolve) => setImmediate(resolve));
    this.isDue = false;
    const keys = new Set(this.waiting.map(({ session }) => session.key));
    for (const key of keys) await this.writeSession(key);
  }

  private async writeSession(key: string): Promise<void> {
    const { files, mayKeep, log } = this.parts;
    const batch = this.waiting.filter(({ session }) => session.key === key);
    const session = batch.at(-1)?.session;
    if (session === undefined) return;
    try {
      if (await mayKeep(nameOfKey(key)?.cwd ?? '')) await files.append(session, batch.map(made));
    } catch (error) {
      if (!this.isFailing) log.warn(`Runs cannot be kept for now: ${messageOf(error)}`);
      this.isFailing = true;
      return;
    }
    this.isFailing = this.isDropping = false;
    const written = new Set(batch);
    this.waiting = this.waiting.filter((each) => !written.has(each));
  }
}

/** Made once, so that what waits does not hold more than what is kept. */
function made(waiting: Waiting): KeptRun {
  const run = waiting.run();
  waiting.run = () => run;
  return run;
}

/** Nothing leads to a file that is gone. */
async function withArtifact(run: KeptRun): Promise<KeptRun> {
  if (run.artifact === null) return run;
  return access(run.artifact).then(
    () => run,
    () => ({ ...run, artifact: null }),
  );
}

function nothing(): void {}
