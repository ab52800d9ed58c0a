import type { StreamName } from '../../kernel/output';
import type { OutputUpdate, Piece } from '../../webview/protocol';
import type { TranscriptLimits } from './limits';

/** How far a log has come, counted over the whole run. */
interface Mark {
  /** UTF-16 units of text, and one for each item and gap. */
  readonly units: number;
  readonly lines: number;
  /** UTF-8 bytes of text. */
  readonly bytes: number;
  readonly items: number;
}

type Item = Exclude<Piece, { kind: 'text' | 'gap' }>;

interface TextEntry {
  readonly kind: 'text';
  readonly name: StreamName;
  text: string;
  readonly start: Mark;
  end: Mark;
}

interface GapEntry {
  readonly kind: 'gap';
  readonly start: Mark;
  end: Mark;
}

interface ItemEntry {
  readonly kind: 'item';
  item: Item;
  readonly displayId: string | undefined;
  size: number;
  changed: number;
  readonly start: Mark;
  readonly end: Mark;
}

type Entry = TextEntry | GapEntry | ItemEntry;

/** Where a reader of a log stands. */
export interface LogCursor {
  readonly epoch: number;
  readonly at: Mark;
  readonly changes: number;
}

const NOWHERE: Mark = { units: 0, lines: 0, bytes: 0, items: 0 };
const PIECE_UNITS = 16 * 1024;
const LARGEST_PIECE_UNITS = 64 * 1024;
// Room beyond the limit before the log is compacted, so that a flood of small pieces costs little for each.
const SLACK = 1.25;

/**
 * The output of one run in order: text of both streams, and items (displays, results, errors). Bounded: of the text
 * the first and the last part stay, what was between is a counted gap. Readers take what is new for them since their
 * cursor, however much or little that is.
 */
export class OutputLog {
  private entries: Entry[] = [];
  private end: Mark = NOWHERE;
  private headFull = false;
  private headEntries = 0;
  private headStart: Mark = NOWHERE;
  private tailLines = 0;
  private tailBytes = 0;
  private itemBytes = 0;
  private itemCount = 0;
  private epoch = 0;
  private changes = 0;
  private nextItem = 0;
  private clearPending = false;
  private lineOpen = false;
  private readonly byDisplayId = new Map<string, ItemEntry[]>();

  constructor(private readonly limits: TranscriptLimits) {}

  /** Of the whole stream; an unfinished last line counts. */
  get totalLines(): number {
    return this.end.lines + (this.lineOpen ? 1 : 0);
  }

  get totalBytes(): number {
    return this.end.bytes;
  }

  /** Bytes that are held. */
  get size(): number {
    return this.headBytes() + this.tailBytes + this.itemBytes;
  }

  text(name: StreamName, text: string): void {
    if (text === '') return;
    this.clearIfPending();
    for (let from = 0; from < text.length;) {
      const to = cut(text, from);
      // A slice would keep a huge chunk in memory for as long as any part of it is held.
      const whole = text.length <= 4 * LARGEST_PIECE_UNITS;
      this.appendText(name, whole ? text.slice(from, to) : copy(text.slice(from, to)));
      from = to;
    }
    this.compactIfDue();
  }

  gap(lines: number, bytes: number, items = 0): void {
    this.clearIfPending();
    const last = this.entries.at(-1);
    const end = plus(this.end, { units: 1, lines, bytes, items });
    if (last?.kind === 'gap') last.end = end;
    else this.push({ kind: 'gap', start: this.end, end });
    this.end = end;
  }

  item(make: (id: number) => Item, displayId?: string): void {
    this.clearIfPending();
    const item = make(this.nextItem++);
    const end = plus(this.end, { units: 1, items: 1 });
    const size = sizeOf(item);
    const start = this.end;
    const entry: ItemEntry = { kind: 'item', item, displayId, size, changed: 0, start, end };
    this.push(entry);
    this.end = end;
    this.itemBytes += size;
    this.itemCount += 1;
    if (displayId !== undefined) {
      const same = this.byDisplayId.get(displayId);
      if (same === undefined) this.byDisplayId.set(displayId, [entry]);
      else same.push(entry);
    }
    if (this.itemCount > this.limits.items * SLACK || this.itemBytes > this.limits.itemBytes)
      this.compact();
  }

  /** Replaces the data of the displays with this id, in place. Answers whether there were any. */
  update(
    displayId: string,
    data: Record<string, unknown>,
    metadata: Record<string, unknown>,
  ): boolean {
    const shown = this.byDisplayId.get(displayId) ?? [];
    for (const entry of shown) {
      if (entry.item.kind !== 'display') continue;
      entry.item = { ...entry.item, data, metadata };
      this.itemBytes -= entry.size;
      entry.size = sizeOf(entry.item);
      this.itemBytes += entry.size;
      entry.changed = ++this.changes;
    }
    return shown.length > 0;
  }

  clear(wait = false): void {
    if (wait) {
      this.clearPending = true;
      return;
    }
    this.clearPending = false;
    this.entries = [];
    this.byDisplayId.clear();
    this.headFull = false;
    this.headEntries = 0;
    this.headStart = this.end;
    this.tailLines = this.tailBytes = this.itemBytes = this.itemCount = 0;
    this.epoch += 1;
  }

  /** What is new since the cursor (everything, without one), and the cursor for the next time. */
  read(cursor: LogCursor | undefined): { update: OutputUpdate; cursor: LogCursor } {
    const same = cursor?.epoch === this.epoch;
    const at = cursor !== undefined && same ? cursor.at : this.headStart;
    const pieces: Piece[] = [];
    for (let index = this.firstAfter(at); index < this.entries.length; index++) {
      const entry = this.entries[index];
      if (entry !== undefined) pieces.push(pieceOf(entry, at));
    }
    const update: OutputUpdate = {
      clear: cursor !== undefined && !same,
      pieces,
      displays: same ? this.changedDisplays(cursor.changes, at) : [],
      totalLines: this.totalLines,
      totalBytes: this.totalBytes,
    };
    return { update, cursor: { epoch: this.epoch, at: this.end, changes: this.changes } };
  }

  private changedDisplays(since: number, at: Mark): OutputUpdate['displays'] {
    if (since === this.changes) return [];
    return this.entries.flatMap((entry) => {
      if (entry.kind !== 'item' || entry.item.kind !== 'display') return [];
      if (entry.changed <= since || entry.end.units > at.units) return [];
      const { id, data, metadata } = entry.item;
      return [{ id, data, metadata }];
    });
  }

  private firstAfter(at: Mark): number {
    let index = this.entries.length;
    while (index > 0 && (this.entries[index - 1]?.end.units ?? 0) > at.units) index -= 1;
    return index;
  }

  private appendText(name: StreamName, text: string): void {
    const lines = newlinesIn(text);
    const bytes = Buffer.byteLength(text);
    const end = plus(this.end, { units: text.length, lines, bytes });
    const last = this.entries.at(-1);
    if (last?.kind === 'text' && last.name === name && this.hasRoom(last)) {
      last.text += text;
      last.end = end;
    } else {
      this.push({ kind: 'text', name, text, start: this.end, end });
    }
    this.end = end;
    this.lineOpen = !text.endsWith('\n');
    if (this.entries.length > this.headEntries) {
      this.tailLines += lines;
      this.tailBytes += bytes;
    }
  }

  /** A piece ends at a line end where that comes in time, so that what is left out later is whole lines. */
  private hasRoom(last: TextEntry): boolean {
    return last.text.length < (this.lineOpen ? LARGEST_PIECE_UNITS : PIECE_UNITS);
  }

  private push(entry: Entry): void {
    this.headFull ||= this.isHeadFull();
    if (!this.headFull) this.headEntries += 1;
    this.entries.push(entry);
  }

  private isHeadFull(): boolean {
    const { limits, headStart, end } = this;
    return (
      end.lines - headStart.lines >= limits.headLines ||
      end.bytes - headStart.bytes >= limits.headBytes ||
      this.itemCount >= limits.items / 4 ||
      this.itemBytes >= limits.itemBytes / 4
    );
  }

  private headBytes(): number {
    const last = this.entries[this.headEntries - 1];
    return last === undefined ? 0 : last.end.bytes - this.headStart.bytes;
  }

  private compactIfDue(): void {
    const { tailLines, tailBytes } = this.limits;
    if (this.tailLines > tailLines * SLACK || this.tailBytes > tailBytes * SLACK) this.compact();
  }

  /** Turns the oldest entries behind the head into gaps until the limits are kept. */
  private compact(): void {
    const kept = this.entries.slice(0, this.headEntries);
    // Text and items each go oldest first: behind one that stays, all stay.
    const over = { text: true, item: true };
    for (const entry of this.entries.slice(this.headEntries)) {
      let next = entry;
      if (entry.kind !== 'gap' && over[entry.kind]) {
        if (this.isTooMuch(entry)) next = this.leaveOut(entry);
        else over[entry.kind] = false;
      }
      const last = kept.at(-1);
      if (next.kind === 'gap' && last?.kind === 'gap') last.end = next.end;
      else kept.push(next);
    }
    this.entries = kept;
  }

  private isTooMuch(entry: TextEntry | ItemEntry): boolean {
    if (entry.kind === 'item')
      return this.itemCount > this.limits.items || this.itemBytes > this.limits.itemBytes;
    const lines = entry.end.lines - entry.start.lines;
    const bytes = entry.end.bytes - entry.start.bytes;
    return (
      this.tailLines - lines >= this.limits.tailLines ||
      this.tailBytes - bytes >= this.limits.tailBytes
    );
  }

  private leaveOut(entry: TextEntry | ItemEntry): GapEntry {
    if (entry.kind === 'item') {
      this.itemCount -= 1;
      this.itemBytes -= entry.size;
      this.forgetDisplay(entry);
    } else {
      this.tailLines -= entry.end.lines - entry.start.lines;
      this.tailBytes -= entry.end.bytes - entry.start.bytes;
    }
    return { kind: 'gap', start: entry.start, end: entry.end };
  }

  private forgetDisplay(entry: ItemEntry): void {
    if (entry.displayId === undefined) return;
    const rest = this.byDisplayId.get(entry.displayId)?.filter((each) => each !== entry) ?? [];
    if (rest.length === 0) this.byDisplayId.delete(entry.displayId);
    else this.byDisplayId.set(entry.displayId, rest);
  }

  private clearIfPending(): void {
    if (this.clearPending) this.clear();
  }
}

function pieceOf(entry: Entry, at: Mark): Piece {
  const seen = Math.max(0, at.units - entry.start.units);
  switch (entry.kind) {
    case 'text':
      return {
        kind: 'text',
        name: entry.name,
        text: seen > 0 ? entry.text.slice(seen) : entry.text,
      };
    case 'gap': {
      const from = seen > 0 ? at : entry.start;
      return {
        kind: 'gap',
        lines: entry.end.lines - from.lines,
        bytes: entry.end.bytes - from.bytes,
        displays: entry.end.items - from.items,
      };
    }
    case 'item':
      return entry.item;
  }
}

/** End of the next piece: at the last line end within reach, so that what is left out later is whole lines. */
function cut(text: string, from: number): number {
  const reachable = text.slice(from, from + LARGEST_PIECE_UNITS);
  const lineEnd = reachable.lastIndexOf('\n') + 1;
  if (lineEnd > 0) return from + lineEnd;
  const to = from + reachable.length;
  const splitsPair = to < text.length && isHighSurrogate(text.charCodeAt(to - 1));
  return splitsPair ? to - 1 : to;
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;

const copy = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

function newlinesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function plus(mark: Mark, more: Partial<Mark>): Mark {
  return {
    units: mark.units + (more.units ?? 0),
    lines: mark.lines + (more.lines ?? 0),
    bytes: mark.bytes + (more.bytes ?? 0),
    items: mark.items + (more.items ?? 0),
  };
}

function sizeOf(item: Item): number {
  switch (item.kind) {
    case 'error':
      return item.name.length + item.value.length + item.traceback.length;
    case 'answer':
      return item.prompt.length + (item.text?.length ?? 0);
    case 'display':
      return Object.values(item.data).reduce<number>((sum, value) => {
        return (
          sum + (typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0))
        );
      }, 0);
  }
}
