import type { Piece } from '../../webview/protocol';
import { collapse } from './collapse';
import type { RecordLimits } from './limits';

// Characters of the text that stands for a picture or table.
const LONGEST_STAND_IN = 2_000;

type Limits = Pick<RecordLimits, 'outputBytes' | 'itemBytes'>;

/** A run's output within the limits: its beginning and, three times as much, its end; what was between is a counted gap. */
export function boundedOutput(pieces: readonly Piece[], limits: Limits): Piece[] {
  const all = joined(pieces).map((piece) => boundedItem(piece, limits.itemBytes));
  const total = all.reduce((sum, piece) => sum + bytesOf(piece), 0);
  if (total <= limits.outputBytes) return all;
  const head = take(all, limits.outputBytes / 4, 'first');
  const tail = take(head.rest, (limits.outputBytes * 3) / 4, 'last');
  return [...head.taken, gapFor(tail.rest), ...tail.taken];
}

/** Code within a limit of bytes, whole lines from the first on. */
export function boundedCode(code: string, limitBytes: number): string {
  if (Buffer.byteLength(code) <= limitBytes) return code;
  const { start, rest } = splitText(code, limitBytes, 'first');
  return `${start}\n… ${linesIn(rest)} more lines are not kept`;
}

/** Text of one stream that stands together is one piece. */
function joined(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text' && last.name === piece.name)
      result[result.length - 1] = { ...last, text: last.text + piece.text };
    else result.push(piece);
  }
  return result.map((piece) =>
    piece.kind === 'text' ? { ...piece, text: collapse(piece.text) } : piece,
  );
}

function boundedItem(piece: Piece, limitBytes: number): Piece {
  if (piece.kind === 'text' || piece.kind === 'gap' || bytesOf(piece) <= limitBytes) return piece;
  switch (piece.kind) {
    case 'display': {
      const type = Object.keys(piece.data).find((each) => each !== 'text/plain') ?? 'text/plain';
      const size = `${Math.ceil(bytesOf(piece) / 1024)} KB`;
      const note = `[${type}, ${size}: too large to be kept]`;
      const plain = piece.data['text/plain'];
      const hasPlain = typeof plain === 'string' && plain.length <= LONGEST_STAND_IN;
      const data = { 'text/plain': hasPlain ? `${note}\n${plain}` : note };
      return { ...piece, data, metadata: {} };
    }
    case 'error': {
      // A sixth of each: characters may take several bytes as they are written.
      const least = Math.floor(limitBytes / 18);
      return {
        ...piece,
        name: piece.name.slice(0, least),
        value: piece.value.slice(0, least),
        traceback: piece.traceback.slice(-least),
      };
    }
    case 'answer':
      return { ...piece, text: '[too long to be kept]', prompt: piece.prompt.slice(0, 1_000) };
  }
}

interface Taken {
  readonly taken: Piece[];
  readonly rest: Piece[];
}

/** As many pieces as fit from one end on; of a text that fits in part, whole lines. */
function take(pieces: readonly Piece[], limitBytes: number, from: 'first' | 'last'): Taken {
  const taken: Piece[] = [];
  const rest = from === 'first' ? [...pieces] : pieces.toReversed();
  let left = limitBytes;
  for (let piece = rest[0]; piece !== undefined; piece = rest[0]) {
    const size = bytesOf(piece);
    if (size > left) {
      if (piece.kind !== 'text') break;
      const { start, rest: other } = splitText(piece.text, left - EMPTY_TEXT_BYTES, from);
      if (start !== '') {
        taken.push({ ...piece, text: start });
        rest[0] = { ...piece, text: other };
      }
      break;
    }
    taken.push(piece);
    rest.shift();
    left -= size;
  }
  return from === 'first' ? { taken, rest } : { taken: taken.reverse(), rest: rest.reverse() };
}

const EMPTY_TEXT_BYTES = 64;

/** Whole lines from one end that fit as they are written, and what is left. One endless line is left. */
function splitText(
  text: string,
  limitBytes: number,
  from: 'first' | 'last',
): { start: string; rest: string } {
  const lines = text.split(/(?<=\n)/);
  const ordered = from === 'first' ? lines : lines.reverse();
  let used = 0;
  let fits = 0;
  for (const line of ordered) {
    used += writtenBytes(line);
    if (used > limitBytes) break;
    fits += 1;
  }
  const join = (part: string[]): string => (from === 'first' ? part : part.reverse()).join('');
  return { start: join(ordered.slice(0, fits)), rest: join(ordered.slice(fits)) };
}

function gapFor(pieces: readonly Piece[]): Piece {
  const gap = { kind: 'gap' as const, lines: 0, bytes: 0, displays: 0 };
  for (const piece of pieces) {
    if (piece.kind === 'gap') {
      gap.lines += piece.lines;
      gap.bytes += piece.bytes;
      gap.displays += piece.displays;
    } else if (piece.kind === 'text') {
      gap.lines += linesIn(piece.text);
      gap.bytes += Buffer.byteLength(piece.text);
    } else gap.displays += 1;
  }
  return gap;
}

const linesIn = (text: string): number => text.split('\n').length - 1;

const bytesOf = (piece: Piece): number => writtenBytes(piece);

const writtenBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
