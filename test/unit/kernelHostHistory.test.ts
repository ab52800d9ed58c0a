import { expect, it } from 'vitest';
import { History, type HistoryLimits } from '../../src/kernelHost/history';
import type { ExecutionReply } from '../../src/kernel/execution';
import type { HistoryEntry } from '../../src/protocol/vocabulary';

const limits: HistoryLimits = { text: 1_000, displays: 4_000, code: 100, runs: 3, piece: 100 };
const ok: ExecutionReply = {
  status: 'ok',
  cancelled: false,
  timedOut: false,
  stdinRequested: false,
};
const line = (text: string) => ({ type: 'stream' as const, name: 'stdout' as const, text });

function textOf(entries: readonly HistoryEntry[]): string {
  return entries
    .map((entry) =>
      entry.what === 'output' && entry.output.type === 'stream' ? entry.output.text : '',
    )
    .join('');
}

function runs(entries: readonly HistoryEntry[]): string[] {
  return entries.flatMap((entry) => (entry.what === 'begun' ? [entry.execution] : []));
}

it('tells runs and output in order, and after a number only what came later', () => {
  const history = new History(limits);
  history.begun('k', { executionId: 'a', code: '1' }, 1);
  history.push('k', 'a', line('one\n'));
  const before = history.read();
  expect(before.map(({ what }) => what)).toEqual(['begun', 'output']);
  history.push('k', 'a', line('two\n'));
  history.finished('k', 'a', ok, 2);
  const after = history.read(before.at(-1)?.n);
  expect(textOf(after)).toBe('two\n');
  expect(after.map(({ what }) => what)).toEqual(['output', 'finished']);
  expect(textOf(history.read())).toBe('one\ntwo\n');
});

it('tells one kernel alone where another was told before', () => {
  const history = new History(limits);
  history.push('old', null, line('old\n'));
  const told = history.read().at(-1)?.n;
  history.push('old', null, line('still old\n'));
  history.push('new', null, line('new\n'));
  expect(textOf(history.read(told, 'new'))).toBe('new\n');
});

it('leaves the oldest text out as a gap whose lines and bytes are counted', () => {
  const history = new History(limits);
  history.begun('k', { executionId: 'a', code: '1' }, 1);
  for (let i = 0; i < 500; i++) history.push('k', 'a', line(`line ${i}\n`));
  const entries = history.read();
  const kept = textOf(entries);
  const gaps = entries.flatMap((entry) =>
    entry.what === 'output' && entry.output.type === 'gap' ? [entry.output] : [],
  );
  expect(kept.length).toBeLessThanOrEqual(limits.text);
  expect(kept.endsWith('line 499\n')).toBe(true);
  const lines = gaps.reduce((sum, gap) => sum + gap.lines, 0) + kept.split('\n').length - 1;
  expect(lines).toBe(500);
});

it('forgets the oldest runs that are over, whole, and never one that goes on', () => {
  const history = new History(limits);
  history.begun('k', { executionId: 'goes on', code: 'x' }, 1);
  for (const name of ['a', 'b', 'c', 'd']) {
    history.begun('k', { executionId: name, code: name }, 1);
    history.push('k', name, line(`${name}\n`));
    history.finished('k', name, ok, 2);
  }
  expect(runs(history.read())).toEqual(['goes on', 'c', 'd']);
  expect(textOf(history.read())).toBe('c\nd\n');
});
