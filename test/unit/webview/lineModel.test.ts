import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_ROWS, LineModel, type Block } from '../../../src/webview/lineModel';
import { blocksAfter, rowsAfter } from './rows';

describe('a stream of text becomes rows', () => {
  it.each([
    ['lines', 'a\nb\n', ['a', 'b']],
    ['an unfinished line', 'a\nb', ['a', 'b']],
    ['empty lines', '\n\na\n', ['', '', 'a']],
    ['CR LF is one line end', 'a\r\nb\r\n', ['a', 'b']],
    ['a carriage return starts the line over', 'abc\rX', ['Xbc']],
    ['a shorter rest is erased to the end of the line', '100%\r\x1b[Kok', ['ok']],
    ['a backspace goes one back', 'ab\b\bX', ['Xb']],
    ['a backspace stops at the margin', 'a\b\b\bX', ['X']],
    ['erasing the start of the line', 'abcd\b\b\x1b[1KX', ['  Xd']],
    ['erasing the line keeps the column', 'abc\x1b[2Kd', ['   d']],
    ['a column is counted from 1', 'abc\x1b[1GX', ['Xbc']],
    ['forward beyond the end fills with spaces', 'a\x1b[3Cb', ['a   b']],
    ['two progress lines that move up and down', 'a 0\nb 0\n\x1b[2Aa 1\nb 1\n', ['a 1', 'b 1']],
    ['up to the start of a line', 'one\ntwo\n\x1b[2FONE', ['ONE', 'two']],
    ['erasing what is below', 'a\nb\nc\n\x1b[3A\x1b[Jx', ['x', '', '']],
    ['clearing the screen', 'old\nold\n\x1b[2J\x1b[Hnew', ['new']],
    ['what a terminal does not show', 'a\x07\x1b[?25lb\x1b(Bc\x1b]0;title\x07d', ['abcd']],
    ['half of a pair that was written over', '😀\rX', ['X ']],
  ])('%s', (_name, text, rows) => {
    expect(rowsAfter(text)).toEqual(rows);
  });

  it('is the same however the text is split over messages', () => {
    const part = fc.constantFrom(
      ...['a', 'bc', '\n', '\r', '\b', '\x1b[K', '\x1b[31m', '\x1b[0m', '\x1b[A', '\x1b[38;5;9m'],
      ...['\x1b]8;;https://x.org\x1b\\', '\x1b]8;;\x07', '\x1b[2K', '\x1b[5G', '日', '\t'],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), fc.array(fc.nat(200)), (parts, cuts) => {
        const text = parts.join('');
        const ends = [...new Set(cuts.map((at) => at % (text.length + 1)))].sort((a, b) => a - b);
        const pieces = [...ends, text.length].map((end, i) => text.slice(ends[i - 1] ?? 0, end));
        const segments = (blocks: readonly Block[]) =>
          blocks.map(({ rows }) => rows.map((row) => row.segments));
        expect(segments(blocksAfter(...pieces))).toEqual(segments(blocksAfter(text)));
      }),
    );
  });

  it('begins a new block after so many rows', () => {
    const blocks = blocksAfter('x\n'.repeat(2 * BLOCK_ROWS + 1));
    expect(blocks.map(({ rows }) => rows.length)).toEqual([BLOCK_ROWS, BLOCK_ROWS, 1]);
  });

  it('counts what is beyond the longest row', () => {
    const [row] = blocksAfter('x'.repeat(20_000))[0]?.rows ?? [];
    expect((row?.length ?? 0) + (row?.surplus ?? 0)).toBe(20_000);
    expect(row?.surplus).toBeGreaterThan(0);
  });

  it('shows a sequence that never ends as text, in the end', () => {
    expect(rowsAfter('\x1b]' + 'y'.repeat(9_000), 'z\n').join('')).toContain('yyy');
  });
});

describe('two streams', () => {
  it('a progress line with stderr between, split over messages, is one line that moves', () => {
    const rows = rowsAfter('\r10', '%', ['stderr', 'careful\n'], '\r2', '0%', '\r30%', '\n');
    expect(rows).toEqual(['30%', '!careful']);
  });

  it('a line that was cut by the other stream goes on where it was', () => {
    expect(rowsAfter('hel', ['stderr', 'oops\n'], 'lo\n')).toEqual(['hello', '!oops']);
  });

  it('each keeps its own colours', () => {
    const blocks = blocksAfter(['stderr', '\x1b[31m'], 'plain\n', ['stderr', 'red\n']);
    const styles = blocks.map(({ rows }) => rows[0]?.segments[0]?.style?.foreground);
    expect(styles).toEqual([undefined, '1']);
  });

  it('cursor movement stays within the own lines', () => {
    expect(rowsAfter('a\n', ['stderr', 'e\n'], 'b\n\x1b[2AX')).toEqual(['X', '!e', 'b']);
  });
});

describe('something else is put between', () => {
  function model(): { model: LineModel; texts: () => string[] } {
    const blocks: Block[] = [];
    const lines = new LineModel({
      added: (block) => blocks.push(block),
      changed: () => undefined,
      settled: () => undefined,
      erased: () => blocks.splice(0),
    });
    const texts = (): string[] => blocks.map(({ rows }) => rows.map((row) => row.text).join('\n'));
    return { model: lines, texts };
  }

  it('text goes on below it', () => {
    const { model: lines, texts } = model();
    lines.write('stdout', 'before');
    lines.interrupt();
    lines.write('stdout', 'after');
    expect(texts()).toEqual(['before', 'after']);
  });

  it('but a line that is being redrawn stays where it is', () => {
    const { model: lines, texts } = model();
    lines.write('stdout', '10%');
    lines.interrupt();
    lines.write('stdout', '\r20%');
    expect(texts()).toEqual(['20%']);
  });
});
