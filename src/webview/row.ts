import type { TextStyle } from './style';

interface Segment {
  text: string;
  style: TextStyle | undefined;
}

// The layout of one endless line takes seconds; what is beyond is counted.
const LONGEST_ROW = 16_000;

/** One line of text in stretches of one style. Columns are UTF-16 units. */
export class Row {
  segments: Segment[] = [];
  length = 0;
  /** Units beyond the longest row. */
  surplus = 0;

  /** Puts text at a column, over what is there. Answers the column behind it. */
  put(column: number, text: string, style: TextStyle | undefined): number {
    const room = LONGEST_ROW - column;
    if (text.length > room) {
      this.surplus = Math.max(this.surplus, column + text.length - LONGEST_ROW);
      if (room > 0) this.put(column, text.slice(0, room), style);
      return column + text.length;
    }
    if (column > this.length) this.append(' '.repeat(column - this.length), undefined);
    if (column === this.length) this.append(text, style);
    else this.replace(column, column + text.length, { text, style });
    return column + text.length;
  }

  eraseAfter(column: number): void {
    if (column < this.length) this.replace(column, this.length, undefined);
    this.surplus = 0;
  }

  eraseBefore(column: number): void {
    const blanks = Math.min(column + 1, this.length);
    if (blanks > 0) this.replace(0, blanks, { text: ' '.repeat(blanks), style: undefined });
  }

  get text(): string {
    return this.segments.map((segment) => segment.text).join('');
  }

  private append(text: string, style: TextStyle | undefined): void {
    const last = this.segments.at(-1);
    if (last !== undefined && last.style === style) last.text += text;
    else this.segments.push({ text, style });
    this.length += text.length;
  }

  private replace(from: number, to: number, middle: Segment | undefined): void {
    const before = between(this.segments, 0, from);
    const after = between(this.segments, to, this.length);
    this.segments = [];
    this.length = 0;
    for (const { text, style } of before) this.append(text, style);
    if (middle !== undefined) this.append(middle.text, middle.style);
    for (const { text, style } of after) this.append(text, style);
  }
}

function between(segments: readonly Segment[], from: number, to: number): Segment[] {
  const result: Segment[] = [];
  let at = 0;
  for (const { text, style } of segments) {
    const start = Math.max(from - at, 0);
    const end = Math.min(to - at, text.length);
    if (start < end) result.push({ text: wholeCharacters(text, start, end), style });
    at += text.length;
  }
  return result;
}

/** A cut through a surrogate pair leaves a space for the half that stays. */
function wholeCharacters(text: string, start: number, end: number): string {
  let part = text.slice(start, end);
  if (start > 0 && isLow(part.charCodeAt(0)) && isHigh(text.charCodeAt(start - 1)))
    part = ` ${part.slice(1)}`;
  if (end < text.length && isHigh(part.charCodeAt(part.length - 1)) && isLow(text.charCodeAt(end)))
    part = `${part.slice(0, -1)} `;
  return part;
}

const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;
