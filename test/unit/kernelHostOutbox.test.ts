import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/base/clock';
import type { KernelOutput } from '../../src/kernel/output';
import { Outbox, type Batch, type OutboxLimits } from '../../src/kernelHost/outbox';

const out = (text: string): KernelOutput => ({ type: 'stream', name: 'stdout', text });
const err = (text: string): KernelOutput => ({ type: 'stream', name: 'stderr', text });

interface Fixture {
  readonly outbox: Outbox;
  readonly batches: Batch[];
  readonly sent: () => KernelOutput[];
  advance(ms: number): void;
}

function fixture(limits: Partial<OutboxLimits> = {}): Fixture {
  let now = 1_000_000;
  const timers = new Set<{ at: number; callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return { dispose: () => void timers.delete(timer) };
    },
  };
  const batches: Batch[] = [];
  const outbox = new Outbox(
    (batch) => batches.push(batch),
    {
      batch: 1_000,
      batchEveryMs: 16,
      window: 3_000,
      heldText: 4_000,
      heldDisplays: 4_000,
      ...limits,
    },
    clock,
  );
  return {
    outbox,
    batches,
    sent: () => batches.flatMap(({ items }) => items.map(({ output }) => output)),
    advance(ms) {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

const turn = (): Promise<unknown> => new Promise(setImmediate);

describe('output on its way', () => {
  test('the first goes at once, more within 16 ms goes together', async () => {
    const { outbox, batches, advance } = fixture();
    outbox.push('a', out('one'));
    await turn();
    expect(batches).toHaveLength(1);
    outbox.push('a', out('two'));
    outbox.push('a', out('three'));
    await turn();
    expect(batches).toHaveLength(1);
    advance(16);
    expect(batches[1]).toEqual({
      seq: 2,
      items: [{ execution: 'a', output: out('twothree') }],
    });
  });

  test('text joins only its own run and stream', () => {
    const { outbox, sent } = fixture();
    for (const output of [out('1'), err('2'), err('3'), out('4')]) outbox.push('a', output);
    outbox.push(null, out('5'));
    outbox.push('b', out('6'));
    outbox.flush();
    expect(sent()).toEqual([out('1'), err('23'), out('4'), out('5'), out('6')]);
  });

  test('a full batch does not wait; nothing goes beyond the window until it is acknowledged', () => {
    const { outbox, batches, sent, advance } = fixture();
    for (let i = 0; i < 6; i += 1) outbox.push('a', out(`${i}`.repeat(990)));
    expect(batches.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    advance(1_000);
    expect(batches).toHaveLength(3);
    outbox.acknowledge(2);
    expect(batches).toHaveLength(5);
    outbox.acknowledge(5);
    outbox.flush();
    expect(sent()).toEqual([0, 1, 2, 3, 4, 5].map((i) => out(`${i}`.repeat(990))));
  });

  test('nobody takes it: the tail is kept, and what is left out is counted to the byte and line', () => {
    const { outbox, sent } = fixture();
    let [lines, bytes] = [0, 0];
    for (let i = 0; i < 5_000; i += 1) {
      const text = `línea ${i}\n`;
      lines += 1;
      bytes += Buffer.byteLength(text);
      outbox.push(i % 1_000 < 500 ? 'a' : 'b', i % 7 === 0 ? err(text) : out(text));
    }
    outbox.flush();
    const counted = sent().map((output) => {
      if (output.type === 'gap') return output;
      if (output.type !== 'stream') throw new Error(output.type);
      const { text } = output;
      return { lines: text.split('\n').length - 1, bytes: Buffer.byteLength(text) };
    });
    expect(counted.reduce((sum, each) => sum + each.lines, 0)).toBe(lines);
    expect(counted.reduce((sum, each) => sum + each.bytes, 0)).toBe(bytes);
    expect(sent().some(({ type }) => type === 'gap')).toBe(true);
    expect(sent().at(-1)).toMatchObject({ text: expect.stringMatching(/4999\n$/) as string });
  });

  test('a gap stands where the text stood, in its run, and displays around it stay', () => {
    const { outbox, batches } = fixture({ window: 0, heldText: 350 });
    const picture: KernelOutput = { type: 'display', data: { 'image/png': 'AAAA' } };
    outbox.push('a', out('a\n'.repeat(100)));
    outbox.push('a', picture);
    outbox.push('b', out('b\n'.repeat(20)));
    outbox.flush();
    expect(batches.flatMap(({ items }) => items)).toEqual([
      { execution: 'a', output: { type: 'gap', lines: 100, bytes: 200 } },
      { execution: 'a', output: picture },
      { execution: 'b', output: out('b\n'.repeat(20)) },
    ]);
  });

  test('displays above the cap: the oldest are replaced by a note, the newest stay', () => {
    const { outbox, sent } = fixture({ window: 0 });
    const picture = (name: string): KernelOutput => ({
      type: 'display',
      data: { 'image/png': name.repeat(1_500) },
    });
    for (const name of ['a', 'b', 'c']) outbox.push('x', picture(name));
    outbox.flush();
    expect(sent()).toHaveLength(3);
    expect(sent()[0]).toMatchObject({
      data: { 'text/plain': expect.stringMatching(/Left out/) as string },
    });
    expect(sent()[2]).toEqual(picture('c'));
  });

  test('a flood of small displays stays bounded too', () => {
    const { outbox, sent } = fixture({ window: 0 });
    for (let i = 0; i < 10_000; i += 1) outbox.push('x', { type: 'clear', wait: false });
    outbox.flush();
    expect(sent().length).toBeLessThan(100);
  });
});
