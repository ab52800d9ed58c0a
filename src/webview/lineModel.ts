import { AnsiReader, type AnsiSink } from './ansi';
import { Row } from './row';
import { StyleTable, type TextStyle } from './style';

export type StreamName = 'stdout' | 'stderr';

/** Up to so many rows of one stream; drawn as one element. */
export const BLOCK_ROWS = 200;

export interface Block {
  readonly name: StreamName;
  readonly rows: Row[];
}

interface BlockListener {
  /** A block begins behind everything that is there. */
  added(block: Block): void;
  /** Its rows are not what they were. Comes often: mark it, draw later. */
  changed(block: Block): void;
  /** Its rows will not change any more. */
  settled(block: Block): void;
  /** The code cleared the screen: all blocks so far are gone. */
  erased(): void;
}

/**
 * The text of one run as rows. Each stream has a cursor of its own, so that a progress line that moves by carriage
 * returns stays one line while the other stream prints between.
 */
export class LineModel {
  private readonly styles = new StyleTable();
  private readonly streams = new Map<StreamName, StreamCursor>();
  private last: Block | undefined;

  constructor(private readonly listener: BlockListener) {}

  write(name: StreamName, text: string): void {
    let stream = this.streams.get(name);
    if (stream === undefined) {
      stream = new StreamCursor(name, this, this.listener, this.styles);
      this.streams.set(name, stream);
    }
    stream.write(text);
  }

  /**
   * Something else was put behind the rows: text goes on below it, but for a line that is being redrawn. Answers whether
   * a line was left unfinished.
   */
  interrupt(): boolean {
    this.last = undefined;
    const left = [...this.streams.values()].map((stream) => stream.leaveRow());
    return left.includes(true);
  }

  /** These rows are fixed and no longer here to change. */
  forget(block: Block): void {
    if (this.last === block) this.last = undefined;
    for (const stream of this.streams.values()) stream.forget(block);
  }

  /** A block whose last row is the last of all and that has room for one more. */
  blockFor(name: StreamName): Block {
    if (this.last?.name === name && this.last.rows.length < BLOCK_ROWS) return this.last;
    this.last = { name, rows: [] };
    this.listener.added(this.last);
    return this.last;
  }

  eraseAll(): void {
    this.last = undefined;
    for (const stream of this.streams.values()) stream.forgetAll();
    this.listener.erased();
  }
}

// How far up a cursor can go: progress displays of many lines, not whole screens.
const REACHABLE_BLOCKS = 2;

class StreamCursor implements AnsiSink {
  /** The newest blocks of this stream, within reach of the cursor. */
  private blocks: Block[] = [];
  private block: Block | undefined;
  private index = 0;
  private column = 0;
  /** Where the cursor was when something else was put below; a carriage return goes back there. */
  private left: { readonly block: Block; readonly index: number } | undefined;
  private readonly reader: AnsiReader;

  constructor(
    private readonly name: StreamName,
    private readonly model: LineModel,
    private readonly listener: BlockListener,
    styles: StyleTable,
  ) {
    this.reader = new AnsiReader(this, styles);
  }

  write(text: string): void {
    this.reader.write(text);
  }

  leaveRow(): boolean {
    const isOpen = this.block !== undefined;
    if (this.block !== undefined) this.left = { block: this.block, index: this.index };
    this.block = undefined;
    this.column = 0;
    return isOpen;
  }

  forget(block: Block): void {
    this.blocks = this.blocks.filter((each) => each !== block);
    if (this.left?.block === block) this.left = undefined;
    if (this.block !== block) return;
    this.block = undefined;
    this.column = 0;
  }

  forgetAll(): void {
    this.blocks = [];
    this.block = this.left = undefined;
    this.column = 0;
  }

  print(text: string, style: TextStyle | undefined): void {
    const { block, row } = this.row();
    this.column = row.put(this.column, text, style);
    this.listener.changed(block);
  }

  lineFeed(): void {
    this.left = undefined;
    if (this.block === undefined) this.row();
    this.column = 0;
    this.stepDown();
  }

  carriageReturn(): void {
    this.column = 0;
    if (this.block !== undefined || this.left === undefined) return;
    ({ block: this.block, index: this.index } = this.left);
    this.left = undefined;
  }

  back(n: number): void {
    this.column = Math.max(0, this.column - n);
  }

  forward(n: number): void {
    this.column += Math.min(n, 1_000);
  }

  toColumn(column: number): void {
    this.column = Math.min(column, 1_000);
  }

  up(n: number): void {
    for (let step = 0; step < n && this.stepUp(); step++);
  }

  down(n: number): void {
    const { column } = this;
    for (let step = 0; step < Math.min(n, BLOCK_ROWS); step++) this.lineFeedKeepingColumn(column);
  }

  eraseLine(part: 'after' | 'before' | 'all'): void {
    if (this.block === undefined) return;
    const { block, row } = this.row();
    if (part === 'before') row.eraseBefore(this.column);
    else row.eraseAfter(part === 'all' ? 0 : this.column);
    this.listener.changed(block);
  }

  eraseBelow(): void {
    if (this.block === undefined) return;
    this.eraseLine('after');
    const from = this.blocks.indexOf(this.block);
    for (const block of this.blocks.slice(from)) {
      const first = block === this.block ? this.index + 1 : 0;
      for (const row of block.rows.slice(first)) row.eraseAfter(0);
      this.listener.changed(block);
    }
  }

  eraseAll(): void {
    this.model.eraseAll();
  }

  private lineFeedKeepingColumn(column: number): void {
    if (this.block === undefined) this.row();
    this.stepDown();
    this.column = column;
  }

  /** The cursor's row; behind the last one it is made. */
  private row(): { block: Block; row: Row } {
    const existing = this.block?.rows[this.index];
    if (this.block !== undefined && existing !== undefined)
      return { block: this.block, row: existing };
    const block = this.model.blockFor(this.name);
    const row = new Row();
    this.block = block;
    this.index = block.rows.push(row) - 1;
    if (this.blocks.at(-1) !== block) {
      this.blocks.push(block);
      const beyond = this.blocks.length > REACHABLE_BLOCKS ? this.blocks.shift() : undefined;
      if (beyond !== undefined) this.listener.settled(beyond);
    }
    this.listener.changed(block);
    return { block, row };
  }

  private stepDown(): void {
    if (this.block === undefined) return;
    if (this.index + 1 < this.block.rows.length) {
      this.index += 1;
      return;
    }
    this.block = this.blocks[this.blocks.indexOf(this.block) + 1];
    this.index = 0;
  }

  private stepUp(): boolean {
    if (this.block === undefined) return this.stepOnto(this.blocks.at(-1));
    if (this.index > 0) {
      this.index -= 1;
      return true;
    }
    return this.stepOnto(this.blocks[this.blocks.indexOf(this.block) - 1]);
  }

  private stepOnto(block: Block | undefined): boolean {
    if (block === undefined) return false;
    this.block = block;
    this.index = block.rows.length - 1;
    return true;
  }
}
