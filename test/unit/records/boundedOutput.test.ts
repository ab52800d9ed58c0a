import { describe, expect, it } from 'vitest';
import { boundedCode, boundedOutput } from '../../../src/editor/records/boundedOutput';
import { collapse } from '../../../src/editor/records/collapse';
import type { Piece } from '../../../src/webview/protocol';

const limits = { outputBytes: 4_000, itemBytes: 2_000 };
const text = (content: string, name: 'stdout' | 'stderr' = 'stdout'): Piece => {
  return { kind: 'text', name, text: content };
};
const png = (length: number): Piece => ({
  ...{ kind: 'display', id: 0, result: false, metadata: {} },
  data: { 'image/png': 'x'.repeat(length), 'text/plain': '<Figure>' },
});
const written = (pieces: readonly Piece[]): number => JSON.stringify(pieces).length;

describe('what is kept of a run’s output', () => {
  it('small output is kept as it was shown, text of one stream in one piece', () => {
    const pieces = [text('a\n'), text('b\n'), text('c\n', 'stderr'), png(100)];
    expect(boundedOutput(pieces, limits)).toEqual([
      text('a\nb\n'),
      text('c\n', 'stderr'),
      png(100),
    ]);
  });

  it('a picture that is too large is a note that says what stood there', () => {
    const [piece] = boundedOutput([png(50_000)], limits);
    expect(piece).toMatchObject({
      kind: 'display',
      data: { 'text/plain': '[image/png, 49 KB: too large to be kept]\n<Figure>' },
    });
  });

  it('an error that is too large keeps the end of its traceback', () => {
    const traceback = `${'x'.repeat(50_000)}\nthe end`;
    const [piece] = boundedOutput([{ kind: 'error', name: 'E', value: 'v', traceback }], limits);
    expect(JSON.stringify(piece)).toContain('the end');
    expect(written([piece!])).toBeLessThan(2_100);
  });

  it('of much text the first lines and the last stay, and what is between is counted', () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`);
    const [head, gap, tail] = boundedOutput([text(lines.join(''))], limits);
    if (head?.kind !== 'text' || gap?.kind !== 'gap' || tail?.kind !== 'text') expect.fail();
    expect(head.text.startsWith('line 0\n')).toBe(true);
    expect(tail.text.endsWith('line 999\n')).toBe(true);
    const count = (part: string): number => part.split('\n').length - 1;
    expect(count(head.text) + gap.lines + count(tail.text)).toBe(1_000);
    expect(head.text.length + gap.bytes + tail.text.length).toBe(lines.join('').length);
    expect(written([head, gap, tail])).toBeLessThan(limits.outputBytes + 100);
  });

  it('control characters and many small pictures do not break the limit', () => {
    const escapes = boundedOutput([text('\u001b[31mred\u001b[0m\n'.repeat(2_000))], limits);
    expect(written(escapes)).toBeLessThan(limits.outputBytes + 100);
    const pictures = boundedOutput(
      Array.from({ length: 20 }, () => png(1_000)),
      limits,
    );
    expect(written(pictures)).toBeLessThan(limits.outputBytes + 100);
    const gap = pictures.find(({ kind }) => kind === 'gap');
    const shown = pictures.filter(({ kind }) => kind === 'display').length;
    expect(gap).toMatchObject({ displays: 20 - shown });
  });

  it('a gap in what was shown stays counted', () => {
    const pieces: Piece[] = [
      text('a\n'.repeat(3_000)),
      { kind: 'gap', lines: 7, bytes: 70, displays: 1 },
      text('b\n'.repeat(3_000)),
    ];
    const gap = boundedOutput(pieces, limits).find(({ kind }) => kind === 'gap');
    if (gap?.kind !== 'gap') expect.fail();
    expect(gap.displays).toBe(1);
    expect(gap.lines).toBeGreaterThan(7);
  });

  it('code that is too long ends with a word of what is missing', () => {
    expect(boundedCode('a = 1\n', 100)).toBe('a = 1\n');
    expect(boundedCode('x\n'.repeat(100), 50)).toMatch(/^(x\n)+\n… \d+ more lines are not kept$/);
  });
});

describe('a progress bar', () => {
  it.each([
    ['10%\r20%\r100%\n', '100%\n'],
    ['long text\rab\n', 'abng text\n'],
    ['a\r\nb\n', 'a\nb\n'],
    ['plain\n', 'plain\n'],
    ['\u001b[31m1\r2\n', '\u001b[31m1\r2\n'],
    ['10%\r20%\rx', '20%\rx'],
    ['10%\r', '10%\r'],
  ])('%j is kept as %j', (shown, kept) => {
    expect(collapse(shown)).toBe(kept);
  });
});
