import type { EntryUpdate, RunHead } from '../../webview/protocol';
import type { TranscriptLimits } from './limits';
import { OutputLog, type LogCursor } from './outputLog';

interface RunEntry {
  readonly kind: 'run';
  readonly id: number;
  readonly executionId: string;
  head: RunHead;
  readonly log: OutputLog;
  headRevision: number;
  revision: number;
}

interface LooseEntry {
  readonly kind: 'loose';
  readonly id: number;
  readonly log: OutputLog;
  revision: number;
}

interface NoteEntry {
  readonly kind: 'note';
  readonly id: number;
  readonly text: string;
  readonly at: number;
  readonly revision: number;
}

type TranscriptEntry = RunEntry | LooseEntry | NoteEntry;

export interface SessionReading {
  readonly entries: EntryUpdate[];
  readonly removed: number[];
  readonly droppedRuns: number;
}

/** Takes from a session's transcript what changed since it last did; the first time, all of it. */
export interface SessionReader {
  read(): SessionReading;
}

const isOver = (entry: TranscriptEntry): boolean =>
  entry.kind !== 'run' || (entry.head.state !== 'queued' && entry.head.state !== 'running');

/** What one session showed: runs, output of no run, and notes, in order. The oldest go when it gets too much. */
export class SessionTranscript {
  label = '';
  /** It was seen among the pool's sessions. Before that it is on its way, after that it is gone. */
  hasLived = false;
  private entries: TranscriptEntry[] = [];
  private nextId = 1;
  private revision = 0;
  private droppedRuns = 0;
  private readonly runs = new Map<string, RunEntry>();

  constructor(private readonly limits: TranscriptLimits) {}

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  get hasOpenRun(): boolean {
    return !this.entries.every(isOver);
  }

  entryIdOf(executionId: string): number | undefined {
    return this.runs.get(executionId)?.id;
  }

  /** Answers the ids of runs that had to go for this one. */
  begin(executionId: string, head: RunHead): readonly string[] {
    const revision = ++this.revision;
    const log = new OutputLog(this.limits);
    const id = this.nextId++;
    const run: RunEntry = {
      kind: 'run',
      id,
      executionId,
      head,
      log,
      headRevision: revision,
      revision,
    };
    this.entries.push(run);
    this.runs.set(executionId, run);
    return this.makeRoom();
  }

  change(executionId: string, change: Partial<RunHead>): void {
    const run = this.runs.get(executionId);
    if (run === undefined) return;
    run.head = { ...run.head, ...change };
    run.headRevision = run.revision = ++this.revision;
  }

  /** Lets `write` add to a run's output. */
  write(executionId: string, write: (log: OutputLog) => void): void {
    const run = this.runs.get(executionId);
    if (run === undefined) return;
    write(run.log);
    run.revision = ++this.revision;
  }

  writeLoose(write: (log: OutputLog) => void): void {
    const last = this.entries.at(-1);
    const loose = last?.kind === 'loose' ? last : this.addLoose();
    write(loose.log);
    loose.revision = ++this.revision;
  }

  note(text: string, at: number): void {
    this.entries.push({ kind: 'note', id: this.nextId++, text, at, revision: ++this.revision });
    this.makeRoom();
  }

  updateDisplay(
    id: string,
    data: Record<string, unknown>,
    metadata: Record<string, unknown>,
  ): void {
    for (const entry of this.entries) {
      if (entry.kind === 'note' || !entry.log.update(id, data, metadata)) continue;
      entry.revision = ++this.revision;
    }
  }

  /** Forgets what is over, and the output of what is not. Answers the ids of the runs that went. */
  clear(): readonly string[] {
    const over = this.entries.filter(isOver);
    this.entries = this.entries.filter((entry) => !isOver(entry));
    for (const entry of this.entries) {
      if (entry.kind === 'note') continue;
      entry.log.clear();
      entry.revision = ++this.revision;
    }
    this.droppedRuns = 0;
    return this.forget(over);
  }

  reader(): SessionReader {
    let seen = 0;
    const cursors = new Map<number, LogCursor | undefined>();
    return {
      read: () => {
        const since = seen;
        seen = this.revision;
        const kept = new Set(this.entries.map((entry) => entry.id));
        const removed = [...cursors.keys()].filter((id) => !kept.has(id));
        for (const id of removed) cursors.delete(id);
        const changed = this.entries.filter((entry) => entry.revision > since);
        const entries = changed.map((entry) => readEntry(entry, since, cursors));
        return { entries, removed, droppedRuns: this.droppedRuns };
      },
    };
  }

  private addLoose(): LooseEntry {
    const log = new OutputLog(this.limits);
    const loose: LooseEntry = { kind: 'loose', id: this.nextId++, log, revision: 0 };
    this.entries.push(loose);
    this.makeRoom();
    return loose;
  }

  private makeRoom(): readonly string[] {
    const dropped: TranscriptEntry[] = [];
    let size = this.entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
    while (this.entries.length > this.limits.runs || size > this.limits.sessionBytes) {
      const index = this.entries.slice(0, -1).findIndex(isOver);
      if (index === -1) break;
      const [entry] = this.entries.splice(index, 1);
      if (entry === undefined) break;
      size -= sizeOf(entry);
      dropped.push(entry);
      if (entry.kind === 'run') this.droppedRuns += 1;
    }
    return this.forget(dropped);
  }

  private forget(entries: readonly TranscriptEntry[]): readonly string[] {
    const ids = entries.flatMap((entry) => (entry.kind === 'run' ? [entry.executionId] : []));
    for (const id of ids) this.runs.delete(id);
    return ids;
  }
}

function sizeOf(entry: TranscriptEntry): number {
  if (entry.kind === 'note') return entry.text.length;
  return entry.log.size + (entry.kind === 'run' ? entry.head.code.length : 0);
}

function readEntry(
  entry: TranscriptEntry,
  since: number,
  cursors: Map<number, LogCursor | undefined>,
): EntryUpdate {
  const { id } = entry;
  if (entry.kind === 'note') {
    cursors.set(id, undefined);
    return { kind: 'note', id, text: entry.text, at: entry.at };
  }
  const { update, cursor } = entry.log.read(cursors.get(id));
  cursors.set(id, cursor);
  const changed = update.clear || update.pieces.length > 0 || update.displays.length > 0;
  const output = changed ? update : null;
  if (entry.kind === 'loose') return { kind: 'loose', id, output };
  return { kind: 'run', id, head: entry.headRevision > since ? entry.head : null, output };
}
