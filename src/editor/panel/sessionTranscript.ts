import type { EntryUpdate, Piece, RunHead } from '../../webview/protocol';
import type { TranscriptLimits } from './limits';
import { isOverIn, type OutlineChange, type OutlineEntry } from './outline';
import { OutputLog, type LogCursor } from './outputLog';

interface RunEntry {
  readonly kind: 'run';
  readonly id: number;
  readonly executionId: string;
  head: RunHead;
  readonly log: OutputLog;
  /** In the outline; undefined: it was kept, and shown by an earlier session. */
  readonly place: number | undefined;
  readonly isEarlier: boolean;
  headRevision: number;
  revision: number;
}

interface LooseEntry {
  readonly kind: 'loose';
  readonly id: number;
  readonly log: OutputLog;
  /** The run that it came after. */
  readonly after: string | undefined;
  readonly isEarlier: boolean;
  revision: number;
}

interface NoteEntry {
  readonly kind: 'note';
  readonly id: number;
  readonly place: number;
  readonly text: string;
  readonly at: number;
  readonly revision: number;
}

/** What was kept ends here. */
interface EarlierEntry {
  readonly kind: 'earlier';
  readonly id: number;
  readonly until: number;
  readonly revision: number;
}

type TranscriptEntry = RunEntry | LooseEntry | NoteEntry | EarlierEntry;

/** A run that was kept. Times are ms since the epoch. */
export interface EarlierRun {
  readonly executionId: string;
  readonly head: RunHead;
  readonly pieces: readonly Piece[];
  /** What the session put out after it that belongs to no run. */
  readonly after: readonly Piece[];
  readonly endedAt: number;
}

type WithoutSession<Entry> = Entry extends unknown
  ? Omit<Entry, 'sessionKey' | 'sessionLabel'>
  : never;
type SessionOutlineEntry = WithoutSession<OutlineEntry>;
interface SessionOutlineChange extends Omit<OutlineChange, 'entry'> {
  readonly entry: SessionOutlineEntry | undefined;
}

interface SessionReading {
  readonly entries: EntryUpdate[];
  readonly removed: number[];
  readonly droppedRuns: number;
}

/** Takes from a session's transcript what changed since it last did; the first time, all of it. */
export interface SessionReader {
  read(): SessionReading;
}

const isOver = (entry: TranscriptEntry): boolean => entry.kind !== 'run' || isOverIn(entry.head);

/** What one session showed: runs, output of no run, and notes, in order. The oldest go when it gets too much. */
export class SessionTranscript {
  label = '';
  /** It was seen among the pool's sessions. Before that it is on its way, after that it is gone. */
  hasLived = false;
  /** What was kept of earlier sessions has been looked for. */
  hasEarlier = false;
  private entries: TranscriptEntry[] = [];
  private nextId = 1;
  private revision = 0;
  private droppedRuns = 0;
  private readonly runs = new Map<string, RunEntry>();

  constructor(
    private readonly limits: TranscriptLimits,
    /** A run that is over, or what came after it, shows something else than before. */
    private readonly onLate: (executionId: string) => void,
    private readonly onOutline: (change: SessionOutlineChange) => void,
  ) {}

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  /** It shows nothing but what was kept. */
  get isEarlier(): boolean {
    return !this.isEmpty && this.entries.every(isOfEarlier);
  }

  get hasOpenRun(): boolean {
    return !this.entries.every(isOver);
  }

  outline(): readonly SessionOutlineEntry[] {
    return this.entries.flatMap((entry) => outlined(entry) ?? []);
  }

  shownRun(executionId: string): Pick<EarlierRun, 'head' | 'pieces' | 'after'> | undefined {
    const run = this.runs.get(executionId);
    if (run === undefined) return undefined;
    const after = this.entries.filter(
      (entry) => entry.kind === 'loose' && entry.after === executionId,
    );
    return { head: run.head, pieces: piecesOf(run), after: after.flatMap(piecesOf) };
  }

  entryIdOf(executionId: string): number | undefined {
    return this.runs.get(executionId)?.id;
  }

  /** Answers the ids of runs that had to go for this one. */
  begin(executionId: string, head: RunHead, place: number): readonly string[] {
    // It is shown again, by whoever tells of it now.
    if (this.runs.get(executionId)?.isEarlier === true) this.forgetEarlier(executionId);
    const revision = ++this.revision;
    const log = new OutputLog(this.limits);
    const id = this.nextId++;
    const run: RunEntry = {
      kind: 'run',
      id,
      executionId,
      head,
      log,
      place,
      isEarlier: false,
      headRevision: revision,
      revision,
    };
    this.entries.push(run);
    this.runs.set(executionId, run);
    this.tellOutline(run);
    return this.makeRoom();
  }

  /** Puts runs that were kept before all others. Those that are here already stay where they are. */
  addEarlier(runs: readonly EarlierRun[]): void {
    this.hasEarlier = true;
    const missing = runs.filter(({ executionId }) => !this.runs.has(executionId));
    const last = missing.at(-1);
    if (last === undefined) return;
    const revision = ++this.revision;
    const entries = missing.flatMap(({ executionId, head, pieces, after }) => {
      const earlier = { place: undefined, isEarlier: true, headRevision: revision, revision };
      const log = logOf(pieces, this.limits);
      const run: RunEntry = { kind: 'run', id: this.nextId++, executionId, head, log, ...earlier };
      this.runs.set(executionId, run);
      if (after.length === 0) return [run];
      return [run, { ...this.looseAfter(run, logOf(after, this.limits)), revision }];
    });
    const id = this.nextId++;
    this.entries.unshift(...entries, { kind: 'earlier', id, until: last.endedAt, revision });
    this.makeRoom();
  }

  /** One of them, or all. Answers whether there were any. */
  forgetEarlier(executionId?: string): boolean {
    const going = this.entries.filter(
      (entry) =>
        isOfEarlier(entry) && (executionId === undefined || executionOf(entry) === executionId),
    );
    const gone = new Set(going);
    this.entries = this.entries.filter((entry) => !gone.has(entry));
    this.forget(going);
    const isLeft = this.entries.some((entry) => entry.kind === 'run' && entry.isEarlier);
    if (!isLeft) this.entries = this.entries.filter(({ kind }) => kind !== 'earlier');
    return going.length > 0;
  }

  change(executionId: string, change: Partial<RunHead>): void {
    const run = this.runs.get(executionId);
    if (run === undefined) return;
    run.head = { ...run.head, ...change };
    run.headRevision = run.revision = ++this.revision;
    this.tellOutline(run);
  }

  /** Lets `write` add to a run's output. */
  write(executionId: string, write: (log: OutputLog) => void): void {
    const run = this.runs.get(executionId);
    if (run === undefined) return;
    write(run.log);
    run.revision = ++this.revision;
    this.tellIfLate(run);
  }

  writeLoose(write: (log: OutputLog) => void): void {
    const last = this.entries.at(-1);
    const loose = last?.kind === 'loose' ? last : this.addLoose();
    write(loose.log);
    loose.revision = ++this.revision;
    this.tellIfLate(loose);
  }

  note(text: string, at: number, place: number): void {
    const revision = ++this.revision;
    const note: NoteEntry = { kind: 'note', id: this.nextId++, place, text, at, revision };
    this.entries.push(note);
    this.tellOutline(note);
    this.makeRoom();
  }

  updateDisplay(
    id: string,
    data: Record<string, unknown>,
    metadata: Record<string, unknown>,
  ): void {
    for (const entry of this.entries) {
      if (!hasLog(entry) || !entry.log.update(id, data, metadata)) continue;
      entry.revision = ++this.revision;
      this.tellIfLate(entry);
    }
  }

  /** Forgets what is over, and the output of what is not. Answers the ids of the runs that went. */
  clear(): readonly string[] {
    const over = this.entries.filter(isOver);
    this.entries = this.entries.filter((entry) => !isOver(entry));
    for (const entry of this.entries) {
      if (!hasLog(entry)) continue;
      entry.log.clear();
      entry.revision = ++this.revision;
    }
    this.droppedRuns = 0;
    return this.forget(over);
  }

  /** Nothing of it is shown from now on. */
  discard(): void {
    this.forget(this.entries);
    this.entries = [];
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
    const run = this.entries.findLast((entry) => entry.kind === 'run' && !entry.isEarlier);
    const loose = this.looseAfter(run, new OutputLog(this.limits));
    this.entries.push(loose);
    this.makeRoom();
    return loose;
  }

  private looseAfter(run: TranscriptEntry | undefined, log: OutputLog): LooseEntry {
    const [after, isEarlier] = [run && executionOf(run), run !== undefined && isOfEarlier(run)];
    return { kind: 'loose', id: this.nextId++, log, after, isEarlier, revision: 0 };
  }

  private tellIfLate(entry: RunEntry | LooseEntry): void {
    const run = this.runs.get(executionOf(entry) ?? '');
    if (run !== undefined && isOver(run)) this.onLate(run.executionId);
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
    for (const entry of entries) {
      const place = outlined(entry)?.place;
      if (place !== undefined) this.onOutline({ place, entry: undefined });
    }
    return ids;
  }

  private tellOutline(of: RunEntry | NoteEntry): void {
    const entry = outlined(of);
    if (entry) this.onOutline({ place: entry.place, entry });
  }
}

function outlined(entry: TranscriptEntry): SessionOutlineEntry | undefined {
  if (entry.kind === 'note') {
    const { kind, place, text, at } = entry;
    return { kind, place, text, at };
  }
  if (entry.kind !== 'run' || entry.place === undefined) return undefined;
  const { kind, place, executionId, head } = entry;
  return { kind, place, executionId, head };
}

const isOfEarlier = (entry: TranscriptEntry): boolean =>
  entry.kind === 'earlier' || (hasLog(entry) && entry.isEarlier);

const hasLog = (entry: TranscriptEntry): entry is RunEntry | LooseEntry =>
  entry.kind === 'run' || entry.kind === 'loose';

const piecesOf = (entry: TranscriptEntry): readonly Piece[] =>
  hasLog(entry) ? entry.log.read(undefined).update.pieces : [];

/** The run that it is, or came after. */
function executionOf(entry: TranscriptEntry): string | undefined {
  if (entry.kind === 'run') return entry.executionId;
  return entry.kind === 'loose' ? entry.after : undefined;
}

function logOf(pieces: readonly Piece[], limits: TranscriptLimits): OutputLog {
  const log = new OutputLog(limits);
  for (const piece of pieces) {
    if (piece.kind === 'text') log.text(piece.name, piece.text);
    else if (piece.kind === 'gap') log.gap(piece.lines, piece.bytes, piece.displays);
    else log.item((id) => (piece.kind === 'display' ? { ...piece, id } : piece));
  }
  return log;
}

function sizeOf(entry: TranscriptEntry): number {
  if (entry.kind === 'note') return entry.text.length;
  if (entry.kind === 'earlier') return 0;
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
  if (entry.kind === 'earlier') {
    cursors.set(id, undefined);
    return { kind: 'note', id, text: 'Earlier, until', at: entry.until, dated: true };
  }
  const { update, cursor } = entry.log.read(cursors.get(id));
  cursors.set(id, cursor);
  const changed = update.clear || update.pieces.length > 0 || update.displays.length > 0;
  const output = changed ? update : null;
  if (entry.kind === 'loose') return { kind: 'loose', id, output };
  return { kind: 'run', id, head: entry.headRevision > since ? entry.head : null, output };
}
