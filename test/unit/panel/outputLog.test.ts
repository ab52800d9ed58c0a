import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, type TranscriptLimits } from '../../../src/editor/panel/limits';
import { OutputLog, type LogCursor } from '../../../src/editor/panel/outputLog';
import type { OutputUpdate, Piece } from '../../../src/webview/protocol';

const small: TranscriptLimits = {
  ...defaultLimits,
  headLines: 5,
  headBytes: 200,
  tailLines: 20,
  tailBytes: 800,
  items: 8,
  itemBytes: 4_000,
};

/** A reader that, like the page, adds up what it is sent. */
class Reader {
  cursor: LogCursor | undefined;
  pieces: Piece[] = [];

  constructor(private readonly log: OutputLog) {}

  read(): OutputUpdate {
    const { update, cursor } = this.log.read(this.cursor);
    this.cursor = cursor;
    if (update.clear) this.pieces = [];
    this.pieces.push(...update.pieces);
    return update;
  }

  get text(): string {
    return this.pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
  }

  get leftOut(): { lines: number; bytes: number; displays: number } {
    const sum = { lines: 0, bytes: 0, displays: 0 };
    for (const piece of this.pieces) {
      if (piece.kind !== 'gap') continue;
      sum.lines += piece.lines;
      sum.bytes += piece.bytes;
      sum.displays += piece.displays;
    }
    return sum;
  }

  /** Shown and left out together. */
  get accounted(): { lines: number; bytes: number; displays: number } {
    const { lines, bytes, displays } = this.leftOut;
    return {
      lines: lines + (this.text.match(/\n/g)?.length ?? 0),
      bytes: bytes + Buffer.byteLength(this.text),
      displays: displays + this.pieces.filter((piece) => piece.kind === 'display').length,
    };
  }
}

function readAll(log: OutputLog): Reader {
  const reader = new Reader(log);
  reader.read();
  return reader;
}

const show = (log: OutputLog, text = 'd', displayId?: string): void => {
  const data = { 'text/plain': text };
  log.item((id) => ({ kind: 'display', id, result: false, data, metadata: {} }), displayId);
};

describe('the output of a run', () => {
  it('keeps short output as it is, and tells each reader only what is new', () => {
    const log = new OutputLog(small);
    const reader = new Reader(log);
    log.text('stdout', 'one\n');
    expect(reader.read().pieces).toEqual([{ kind: 'text', name: 'stdout', text: 'one\n' }]);
    log.text('stdout', 'two');
    log.text('stderr', 'oops\n');
    expect(reader.read().pieces).toEqual([
      { kind: 'text', name: 'stdout', text: 'two' },
      { kind: 'text', name: 'stderr', text: 'oops\n' },
    ]);
    expect(reader.read().pieces).toEqual([]);
    expect(readAll(log).text).toBe('one\ntwooops\n');
  });

  it('of a flood the first and the last lines stay, whole, and what is between is counted', () => {
    const log = new OutputLog(small);
    for (let i = 0; i < 10_000; i++) log.text('stdout', `line ${i}\n`);
    const reader = readAll(log);
    const lines = reader.text.trimEnd().split('\n');
    expect(lines[0]).toBe('line 0');
    expect(lines.at(-1)).toBe('line 9999');
    expect(lines.every((line) => /^line \d+$/.test(line))).toBe(true);
    expect(reader.leftOut.lines + lines.length).toBe(10_000);
    expect(log.totalLines).toBe(10_000);
  });

  it('whole lines stay also when chunks end within lines', () => {
    const log = new OutputLog(defaultLimits);
    const text = Array.from({ length: 400_000 }, (_, i) => `line ${i}\n`).join('');
    for (let at = 0; at < text.length; at += 65_536)
      log.text('stdout', text.slice(at, at + 65_536));
    const reader = readAll(log);
    const wrong = reader.pieces.flatMap((piece) => {
      if (piece.kind !== 'text') return [];
      return piece.text.split('\n').filter((line) => line !== '' && !/^line \d+$/.test(line));
    });
    const isCutOnce = wrong.length <= 1;
    expect(isCutOnce).toBe(true);
    expect(reader.accounted.lines).toBe(400_000);
    expect(log.size).toBeLessThan(2_000_000);
  });

  it('shown and left out add up to all there was, whenever a reader reads', () => {
    const write = fc.oneof(
      fc.record({
        text: fc.string({
          unit: fc.constantFrom('a', '\n', 'é', '日', '😀', '\ud800'),
          maxLength: 60,
        }),
        name: fc.constantFrom('stdout' as const, 'stderr' as const),
      }),
      fc.constantFrom('display' as const, 'gap' as const, 'read' as const),
    );
    fc.assert(
      fc.property(fc.array(write, { maxLength: 400 }), (writes) => {
        const log = new OutputLog(small);
        const reader = new Reader(log);
        const all = { lines: 0, bytes: 0, displays: 0 };
        for (const each of writes) {
          if (each === 'read') reader.read();
          else if (each === 'gap') {
            log.gap(3, 10);
            all.lines += 3;
            all.bytes += 10;
          } else if (each === 'display') {
            show(log);
            all.displays += 1;
          } else {
            log.text(each.name, each.text);
            all.lines += each.text.match(/\n/g)?.length ?? 0;
            all.bytes += Buffer.byteLength(each.text);
          }
        }
        reader.read();
        expect(reader.accounted).toEqual(all);
        expect(readAll(log).accounted).toEqual(all);
        expect(log.totalBytes).toBe(all.bytes);
      }),
    );
  });

  it('one endless line is bounded', () => {
    const log = new OutputLog(defaultLimits);
    log.text('stdout', 'x'.repeat(20_000_000));
    expect(log.size).toBeLessThan(2_000_000);
    expect(readAll(log).accounted.bytes).toBe(20_000_000);
  });

  it('many displays are bounded, with text or without', () => {
    const log = new OutputLog(small);
    for (let i = 0; i < 1_000; i++) show(log, 'x'.repeat(100));
    expect(log.size).toBeLessThan(5_000);
    const reader = readAll(log);
    expect(reader.accounted.displays).toBe(1_000);
    expect(reader.pieces.filter((piece) => piece.kind === 'display').length).toBeLessThanOrEqual(
      10,
    );
  });
});

describe('displays and clearing', () => {
  it('an update replaces its display in place and travels alone', () => {
    const log = new OutputLog(small);
    const reader = new Reader(log);
    show(log, 'old', 'a');
    log.text('stdout', 'after\n');
    reader.read();
    expect(log.update('a', { 'text/plain': 'new' }, {})).toBe(true);
    expect(reader.read()).toMatchObject({
      pieces: [],
      displays: [{ data: { 'text/plain': 'new' } }],
    });
    expect(readAll(log).pieces[0]).toMatchObject({
      kind: 'display',
      data: { 'text/plain': 'new' },
    });
    expect(log.update('unknown', {}, {})).toBe(false);
  });

  it('an update before the first reading comes with the display', () => {
    const log = new OutputLog(small);
    const reader = new Reader(log);
    show(log, 'old', 'a');
    log.update('a', { 'text/plain': 'new' }, {});
    expect(reader.read()).toMatchObject({
      pieces: [{ data: { 'text/plain': 'new' } }],
      displays: [],
    });
  });

  it('clearing forgets at once, or when the next output comes', () => {
    const log = new OutputLog(small);
    const reader = new Reader(log);
    log.text('stdout', 'one\n');
    reader.read();
    log.clear(true);
    expect(reader.read().clear).toBe(false);
    log.text('stdout', 'two\n');
    expect(reader.read()).toMatchObject({ clear: true, pieces: [{ text: 'two\n' }] });
    log.clear();
    expect(reader.read()).toMatchObject({ clear: true, pieces: [] });
    expect(reader.text).toBe('');
    expect(log.totalLines).toBe(2);
  });
});
