import { expect, it } from 'vitest';
import type { BeforeRunHook } from '../../../src/runner/hooks';
import type { RunRecordEntry } from '../../../src/runner/records';
import { createEvalRunner } from '../../../src/runner/runner';
import { resultOf } from '../../support/executionResult';

// Work that is performed elsewhere goes through the same door: asked, refused and recorded as runs are.

const options = { language: 'python', cwd: '/w', origin: 'person' } as const;

function setUp(...hooks: BeforeRunHook[]) {
  const records: RunRecordEntry[] = [];
  let streaming = false;
  const runner = createEvalRunner({
    ownerId: 'window:me',
    execute: () => Promise.reject(new Error('executed')),
    disposers: [],
    hooks,
    isStreaming: () => streaming,
    record: (entry) => records.push(entry),
  });
  return { runner, records, stream: (on: boolean) => (streaming = on) };
}

it('hooks that answer nothing let it go on; nothing is recorded before it is over', async () => {
  const { runner, records } = setUp(() => undefined);
  expect(await runner.admit('1', options)).toBeUndefined();
  expect([runner.isRunning, records]).toEqual([false, []]);
  runner.record('1', options, resultOf({ output: 'one' }), 5);
  expect(records).toMatchObject([{ code: '1', output: 'one', startedAt: 5, origin: 'person' }]);
});

it('a hook that supplies the result: it is answered, for the caller to show and to record', async () => {
  const { runner, records } = setUp(() => ({ result: resultOf({ output: 'mine' }) }));
  const supplied = await runner.admit('1', options);
  expect([supplied?.output, records]).toEqual(['mine', []]);
});

it('a hook that throws refuses it, and nothing is recorded', async () => {
  const { runner, records } = setUp(() => {
    throw new Error('no');
  });
  await expect(runner.admit('1', options)).rejects.toThrow('no');
  expect(records).toEqual([]);
});

it('it is refused once disposal began, also where a hook answers late, and where it was aborted meanwhile', async () => {
  let answer: () => void = () => undefined;
  const { runner } = setUp(() => new Promise<void>((resolve) => (answer = resolve)));
  const aborted = runner.admit('1', options);
  expect(runner.isRunning).toBe(true);
  runner.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'closed' });
  const late = runner.admit('1', options);
  runner.beginDispose();
  answer();
  await expect(late).rejects.toMatchObject({ code: 'closed' });
  await expect(runner.admit('1', options)).rejects.toMatchObject({ code: 'closed' });
});

it('what ends while the chat streams waits for its turn', () => {
  const { runner, records, stream } = setUp();
  stream(true);
  runner.record('1', options, resultOf(), 5);
  expect([runner.hasPending, records]).toEqual([true, []]);
  runner.flush();
  expect(records).toHaveLength(1);
});
