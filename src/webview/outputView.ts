import { messageOf } from '../base/errors';
import type { OutputUpdate, Piece } from './protocol';
import { el, setText } from './dom';
import { drawError, drawAnswer, drawDisplay } from './drawItem';
import { drawRows, type Reveal } from './drawBlock';
import { leftOut } from './format';
import { BLOCK_ROWS, LineModel, type Block } from './lineModel';

// The same measure as the transcript's, which cuts what this view has not been sent.
const HEAD_ROWS = 1_000;
const TAIL_ROWS = 10_000;
const MAX_ITEMS = 250;
const SLACK_ROWS = 2_000;
// A block that is nearly full is worth its own containment; smaller ones cost more than they save.
const CONTAINED_ROWS = 50;
const SLICE_UNITS = 16 * 1024;

interface BlockPart {
  readonly kind: 'block';
  readonly element: HTMLElement;
  block: Block | undefined;
  rows: number;
  settled: boolean;
}

interface GapPart {
  readonly kind: 'gap';
  readonly element: HTMLElement;
  lines: number;
  bytes: number;
  displays: number;
}

interface ItemPart {
  readonly kind: 'item';
  readonly element: HTMLElement;
  readonly id: number | undefined;
}

type Part = BlockPart | GapPart | ItemPart;

interface OutputActions {
  readonly reveal: Reveal;
  /** Asks to be drawn in this frame or the next. */
  dirty(view: OutputView): void;
  /** Something could not be drawn; its place says so. */
  failed(error: unknown): void;
}

/** The output of one run: rows of text in blocks, and between them displays, errors and marks. */
export class OutputView {
  readonly element = el('div', { class: 'output', hidden: '' });
  private parts: Part[] = [];
  private readonly partOf = new Map<Block, BlockPart>();
  private readonly dirtyBlocks = new Set<BlockPart>();
  private rows = 0;
  private items = 0;
  private totalLines = 0;
  private model = this.newModel();

  constructor(private readonly actions: OutputActions) {}

  /** One update as steps that are short each. */
  *apply(update: OutputUpdate): Generator<void> {
    if (update.clear) this.clear();
    this.totalLines = update.totalLines;
    for (const piece of update.pieces) {
      if (piece.kind !== 'text') {
        this.addPiece(piece);
        yield;
        continue;
      }
      for (let from = 0; from < piece.text.length; from += SLICE_UNITS) {
        this.model.write(piece.name, piece.text.slice(from, from + SLICE_UNITS));
        this.drawFull();
        yield;
      }
    }
    for (const { id, data, metadata } of update.displays) {
      const shown = this.parts.find((part) => part.kind === 'item' && part.id === id);
      shown?.element.replaceChildren(this.attempt(() => drawDisplay(data, metadata)));
    }
    this.actions.dirty(this);
  }

  /** Brings the page in line with the model. */
  draw(): void {
    if (this.rows > HEAD_ROWS + TAIL_ROWS + SLACK_ROWS || this.items > MAX_ITEMS) this.leaveOut();
    for (const part of this.dirtyBlocks) this.drawBlock(part);
    this.dirtyBlocks.clear();
    for (const part of this.parts) if (part.kind === 'gap') this.drawGap(part);
    this.element.hidden = this.parts.length === 0;
  }

  /** All the text that is shown, as it would be copied. */
  text(): string {
    return this.parts
      .map(({ element }) => copyOf(element) ?? element.textContent.replace(/\n$/, ''))
      .join('\n');
  }

  private newModel(): LineModel {
    return new LineModel({
      added: (block) => this.addBlock(block),
      changed: (block) => this.changed(block),
      settled: (block) => {
        const part = this.partOf.get(block);
        if (part !== undefined) part.settled = true;
      },
      erased: () => this.removeAll(),
    });
  }

  private clear(): void {
    this.removeAll();
    this.model = this.newModel();
  }

  private removeAll(): void {
    this.parts = [];
    this.partOf.clear();
    this.dirtyBlocks.clear();
    this.rows = this.items = 0;
    this.element.replaceChildren();
    this.actions.dirty(this);
  }

  private addBlock(block: Block): void {
    const element = el('div', { class: `block ${block.name}` });
    const part: BlockPart = { kind: 'block', element, block, rows: 0, settled: false };
    this.partOf.set(block, part);
    this.add(part);
  }

  private changed(block: Block): void {
    const part = this.partOf.get(block);
    if (part === undefined) return;
    this.rows += block.rows.length - part.rows;
    part.rows = block.rows.length;
    if (this.dirtyBlocks.size === 0) this.actions.dirty(this);
    this.dirtyBlocks.add(part);
  }

  /** Draws what is complete right away, so that drawing is part of each short step and never piles up. */
  private drawFull(): void {
    for (const part of this.dirtyBlocks) {
      if (part.rows < BLOCK_ROWS) continue;
      this.drawBlock(part);
      this.dirtyBlocks.delete(part);
    }
  }

  private drawBlock(part: BlockPart): void {
    const { block, element } = part;
    if (block === undefined) return;
    element.replaceChildren(drawRows(block.rows, { reveal: this.actions.reveal, places: false }));
    if (part.rows >= CONTAINED_ROWS) {
      element.classList.add('contained');
      element.style.setProperty('--rows', String(part.rows));
    }
    if (!part.settled) return;
    part.block = undefined;
    this.partOf.delete(block);
  }

  private addPiece(piece: Exclude<Piece, { kind: 'text' }>): void {
    const cutsLine = this.model.interrupt();
    if (piece.kind === 'gap') {
      const { lines, bytes, displays } = piece;
      // The line whose start is on the screen already counts there.
      this.add({ ...newGap(), lines: cutsLine ? Math.max(0, lines - 1) : lines, bytes, displays });
      return;
    }
    const element = this.attempt(() => this.drawItem(piece));
    this.items += 1;
    this.add({ kind: 'item', element, id: piece.kind === 'display' ? piece.id : undefined });
  }

  /** What somebody else's code made must not cost what comes after it. */
  private attempt(draw: () => HTMLElement): HTMLElement {
    try {
      return draw();
    } catch (error) {
      this.actions.failed(error);
      return el('div', { class: 'gap' }, `This could not be shown: ${messageOf(error)}`);
    }
  }

  private drawItem(piece: Exclude<Piece, { kind: 'text' | 'gap' }>): HTMLElement {
    switch (piece.kind) {
      case 'error':
        return drawError(piece, this.actions.reveal);
      case 'answer':
        return drawAnswer(piece);
      case 'display': {
        const element = el('div', { class: piece.result ? 'display result' : 'display' });
        element.append(drawDisplay(piece.data, piece.metadata));
        return element;
      }
    }
  }

  private add(part: Part): void {
    this.parts.push(part);
    this.element.append(part.element);
    this.actions.dirty(this);
  }

  /** Makes gaps of the oldest parts behind the head: behind a block that stays, all blocks stay. */
  private leaveOut(): void {
    const kept: Part[] = [];
    let headRows = 0;
    let tooManyRows = true;
    for (const part of this.parts) {
      let gap: GapPart | undefined;
      if (part.kind === 'item' && this.items > MAX_ITEMS) gap = this.gapForItem();
      else if (part.kind === 'block' && headRows < HEAD_ROWS) headRows += part.rows;
      else if (part.kind === 'block' && tooManyRows) {
        tooManyRows = this.rows - part.rows >= HEAD_ROWS + TAIL_ROWS;
        if (tooManyRows) gap = this.gapForBlock(part);
      }
      if (gap !== undefined) part.element.replaceWith(gap.element);
      const next = gap ?? part;
      const last = kept.at(-1);
      if (next.kind === 'gap' && last?.kind === 'gap') mergeGaps(last, next);
      else kept.push(next);
    }
    this.parts = kept;
  }

  private gapForItem(): GapPart {
    this.items -= 1;
    return { ...newGap(), displays: 1 };
  }

  private gapForBlock(part: BlockPart): GapPart {
    this.rows -= part.rows;
    this.dirtyBlocks.delete(part);
    if (part.block !== undefined) {
      this.model.forget(part.block);
      this.partOf.delete(part.block);
    }
    return { ...newGap(), lines: part.rows };
  }

  private drawGap(part: GapPart): void {
    setText(part.element, leftOut(part.lines, part.bytes, part.displays, this.totalLines));
  }
}

function newGap(): GapPart {
  return { kind: 'gap', element: el('div', { class: 'gap' }), lines: 0, bytes: 0, displays: 0 };
}

function mergeGaps(gap: GapPart, next: GapPart): void {
  gap.lines += next.lines;
  gap.bytes += next.bytes;
  gap.displays += next.displays;
  next.element.remove();
}

/** What a copy of this says, where that is not its text. */
function copyOf(element: HTMLElement): string | undefined {
  const { firstElementChild: child } = element;
  return (
    element.dataset['copy'] ?? (child instanceof HTMLElement ? child.dataset['copy'] : undefined)
  );
}
