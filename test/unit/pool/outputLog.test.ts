import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KernelOutput } from '../../../src/kernel/output';
import { OutputLog, type OutputSummary } from '../../../src/pool/outputLog';
import { utf8Length, utf8Tail } from '../../../src/pool/utf8';

const LIMIT = 50_000;

function log(outputs: readonly (KernelOutput | string)[], limit = LIMIT): OutputSummary {
  const collected = new OutputLog(limit);
  for (const output of outputs) {
    collected.add(
      typeof output === 'string' ? { type: 'stream', name: 'stdout', text: output } : output,
    );
  }
  return collected.summary();
}

describe('text', () => {
  it('is nothing where nothing was put out', () => {
    expect(log([])).toEqual({
      output: '',
      truncated: false,
      totalLines: 0,
      totalBytes: 0,
      outputLines: 0,
      outputBytes: 0,
      displayOutputs: [],
    });
  });

  it.each([
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['\n\n', 2],
  ])('%j has %i lines', (text, lines) => {
    expect(log([text])).toMatchObject({ totalLines: lines, outputLines: lines });
  });

  it('keeps exactly the limit, uncut', () => {
    const text = 'x'.repeat(LIMIT - 1) + '\n';
    expect(log([text])).toMatchObject({ output: text, truncated: false, outputBytes: LIMIT });
  });

  it('keeps the last bytes beyond the limit, from the start of a line', () => {
    const line = `${'x'.repeat(99)}\n`;
    const summary = log(Array.from({ length: 501 }, () => line));
    expect(summary.output).toBe(line.repeat(500));
    expect(summary).toMatchObject({
      truncated: true,
      totalLines: 501,
      totalBytes: 50_100,
      outputLines: 500,
      outputBytes: 50_000,
    });
    const uneven = log(['first\n', ...Array.from({ length: 500 }, () => line), 'y']);
    expect(uneven.output).toBe(`${line.repeat(499)}y`);
  });

  it('cuts within a line that alone is beyond the limit', () => {
    expect(log(['abcdefgh'], 3).output).toBe('fgh');
    expect(log(['ab\ncdefgh\n'], 3).output).toBe('gh\n');
  });

  it('counts and cuts by characters, not by halves of them', () => {
    expect(log(['é€😀'])).toMatchObject({ totalBytes: 9, outputBytes: 9 });
    expect(log(['😀😀'], 5).output).toBe('😀');
    expect(log(['\ud83d', '\ude00'])).toMatchObject({ output: '😀', totalBytes: 4 });
    expect(log(['\ud83d'])).toMatchObject({ output: '\ud83d', totalBytes: 3 });
  });

  it('keeps exact totals of a flood in bounded memory', () => {
    const collected = new OutputLog(1_000);
    for (let at = 0; at < 100_000; at++) {
      collected.add({ type: 'stream', name: 'stdout', text: `${at}\n` });
    }
    const summary = collected.summary();
    expect(summary).toMatchObject({ totalLines: 100_000, totalBytes: 588_890, truncated: true });
    expect(summary.output.endsWith('99998\n99999\n')).toBe(true);
    expect(summary.outputBytes).toBeLessThanOrEqual(1_000);
    expect(summary.outputBytes).toBeGreaterThan(990);
  });

  it('has a result’s text and a traceback on lines of their own', () => {
    const { output, displayOutputs } = log([
      'printed',
      { type: 'result', data: { 'text/plain': '2' } },
      { type: 'error', name: 'E', value: 'v', traceback: 'Traceback\nE: v' },
    ]);
    expect(output).toBe('printed\n2\nTraceback\nE: v\n');
    expect(displayOutputs).toEqual([]);
  });

  it('counts what a gap left out, marks it, and says that it is cut', () => {
    const summary = log(['a\n', { type: 'gap', lines: 10, bytes: 100 }, 'b\n']);
    expect(summary).toMatchObject({ totalLines: 12, totalBytes: 104, truncated: true });
    expect(summary.output).toBe('a\n[10 lines left out here]\nb\n');
  });

  it('agrees with the platform on lengths, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });

  it('is a tail that fits and splits nothing, whatever the text and the limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 40 }), (text, limit) => {
        const tail = utf8Tail(text, limit);
        expect(text.endsWith(tail)).toBe(true);
        expect(utf8Length(tail)).toBeLessThanOrEqual(limit);
        const more = text.slice(Math.max(0, text.length - tail.length - 2));
        if (tail.length < text.length) expect(utf8Length(more)).toBeGreaterThan(limit);
      }),
    );
  });
});

describe('displays', () => {
  const shown = (text: string, displayId?: string): KernelOutput => ({
    type: 'display',
    data: { 'text/html': text },
    ...(displayId === undefined ? {} : { displayId }),
  });
  const data = (summary: OutputSummary): unknown[] =>
    summary.displayOutputs.map((output) => output.data['text/html']);

  it('keep the order of their emission, and an update replaces its display in place', () => {
    const summary = log([
      shown('one', 'd'),
      shown('two'),
      { type: 'updateDisplay', displayId: 'd', data: { 'text/html': 'one again' } },
      { type: 'result', data: { 'text/html': 'three', 'text/plain': '3' } },
    ]);
    expect(data(summary)).toEqual(['one again', 'two', 'three']);
  });

  it('show an update of an earlier run’s display', () => {
    expect(
      data(log([{ type: 'updateDisplay', displayId: 'x', data: { 'text/html': 'u' } }])),
    ).toEqual(['u']);
  });

  it('go with a clear: at once, or when the next output comes', () => {
    const clear = (wait: boolean): KernelOutput => ({ type: 'clear', wait });
    expect(log(['a\n', shown('x'), clear(false)])).toMatchObject({
      output: '',
      displayOutputs: [],
      totalBytes: 2,
      truncated: false,
    });
    expect(log(['a\n', clear(true)]).output).toBe('a\n');
    expect(log(['a\n', shown('x'), clear(true), 'b\n'])).toMatchObject({
      output: 'b\n',
      displayOutputs: [],
      totalLines: 2,
    });
  });
});
