import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { leave } from '../../src/editor/leave';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = (): Promise<void> => new Promise(() => {});

function leaving(more: Partial<Parameters<typeof leave>[0]> = {}) {
  const done: string[] = [];
  const say = (what: string) => async (): Promise<void> => void done.push(what);
  const options = {
    handOn: () => void done.push('door'),
    flushRecords: say('records'),
    leaveHost: say('host'),
    log: { warn: (text: string) => void done.push(text) },
    ...more,
  };
  return { done, left: leave(options) };
}

it('C7 leaving hands on what waits, writes it, and says goodbye, in this order', async () => {
  const { done, left } = leaving();
  await left;
  expect(done).toEqual(['door', 'records', 'host']);
});

it('C7 a disk that hangs holds up neither the goodbye nor the end beyond a second', async () => {
  const { done, left } = leaving({ flushRecords: never });
  let isOver = false;
  void left.then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(500);
  expect(done).toEqual(['door', 'host']);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(499);
  expect(isOver).toBe(true);
});

it('C7 nor does a kernel host that does not answer, and a failure of one leaves the other', async () => {
  const flushRecords = () => Promise.reject(new Error('no disk'));
  const { done, left } = leaving({ flushRecords, leaveHost: never });
  let isOver = false;
  void left.then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(999);
  expect(isOver).toBe(true);
  expect(done).toContain('Not all was said on leaving: no disk');
});

it('C7 a record that cannot be handed on keeps neither the others nor the kernel host from knowing', async () => {
  const handOn = (): void => {
    throw new Error('no room');
  };
  const { done, left } = leaving({ handOn });
  await left;
  expect(done).toEqual(['Not all was said on leaving: no room', 'records', 'host']);
});
