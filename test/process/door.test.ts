import os from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { deferred } from '../../src/base/deferred';
import { silentLog } from '../../src/base/log';
import { leave } from '../../src/editor/leave';
import type { KernelHosting } from '../../src/hosting';
import type { ExecutionResult, KernelPool } from '../../src/pool/types';
import type { BeforeRunHook } from '../../src/runner/hooks';
import type { RunRecordEntry } from '../../src/runner/records';
import { createEvalRunner, type EvalRunner, type RunOptions } from '../../src/runner/runner';
import { resultOf } from '../support/executionResult';
import { backgroundWindow, type BackgroundWindow } from './support/background';
import { hostingForTest, temporaryFolder } from './support/hosting';
import { poolForTest } from './support/pool';
import { alive, endAfterTest, expectGone } from './support/processes';

// The rules of the one door (C1 to C7) over real kernels.

const loop = 'print("on", flush=True)\nwhile True: id(0)';

const unreachable = {
  startKernel: () => Promise.reject(new Error('no kernel host')),
  keep: () => undefined,
} as unknown as KernelHosting;

interface Owner {
  readonly runner: EvalRunner;
  readonly records: RunRecordEntry[];
  readonly hooks: BeforeRunHook[];
  isStreaming: boolean;
  /** Resolves with the result; `begun` when its code has said "on". */
  start(code: string, more?: Partial<RunOptions>): Begun;
}

interface Begun {
  readonly result: Promise<ExecutionResult>;
  readonly begun: Promise<void>;
}

interface World {
  readonly pool: KernelPool;
  /** Of every kernel of a session, oldest first. */
  pids(): number[];
  readonly background: BackgroundWindow;
  owner(id: string, failing?: Error): Owner;
}

async function world(hosting?: KernelHosting, maxOutputBytes = 50_000): Promise<World> {
  const host = hosting ?? hostingForTest().hosting;
  const { pool, kernels } = poolForTest({ hosting: () => host, maxOutputBytes });
  const background = backgroundWindow(host, temporaryFolder());
  const owner = (ownerId: string, failing?: Error): Owner => {
    const records: RunRecordEntry[] = [];
    const hooks: BeforeRunHook[] = [];
    const made: Omit<Owner, 'runner' | 'start'> = { records, hooks, isStreaming: false };
    const runner = createEvalRunner({
      ...{ ownerId, hooks },
      execute: (code, options) => pool.execute(code, options),
      disposers: [
        ...(failing ? [() => Promise.reject(failing)] : []),
        (id) => pool.disposeOwner(id),
        (id) => background.here.disposeOwner(id),
      ],
      isStreaming: () => made.isStreaming,
      record: (entry) => records.push(entry),
      log: silentLog,
    });
    const start = (code: string, more: Partial<RunOptions> = {}): Begun => {
      const on = deferred<void>();
      const session = { cwd: os.tmpdir(), sessionId: `python:${ownerId}`, language: 'python' };
      const result = runner.run(code, { ...session, onOutput: () => on.resolve(), ...more });
      return { result, begun: on.promise };
    };
    return Object.assign(made, { runner, start });
  };
  return { pool, background, owner, pids: () => kernels.map(({ pid }) => pid ?? 0) };
}

test('C1: once disposal began a run is refused, and what goes on ends as it would', async () => {
  const { owner, pids } = await world();
  const { start, runner, records } = owner('a');
  const going = start('import time\nprint("on", flush=True)\ntime.sleep(0.5)\nprint("end")');
  await going.begun;
  runner.beginDispose();
  await expect(start('1').result).rejects.toMatchObject({ code: 'closed' });
  expect(await going.result).toMatchObject({ exitCode: 0, output: 'on\nend\n' });
  expect([records.length, pids().length]).toEqual([1, 1]);
});

test('C2: a hook supplies the result, or throws: no kernel starts; one that answers nothing lets the code run', async () => {
  const { owner, pids } = await world();
  const { start, hooks, records } = owner('a');
  hooks.push(({ code }) => {
    if (code === 'mine') return { result: resultOf({ output: 'supplied' }) };
    if (code === 'no') throw new Error('not this');
    return undefined;
  });
  expect((await start('mine').result).output).toBe('supplied');
  await expect(start('no').result).rejects.toThrow('not this');
  expect([records.map(({ output }) => output), pids()]).toEqual([['supplied'], []]);
  expect((await start('print(6 * 7)').result).output).toBe('42\n');
  expect([records.map(({ output }) => output), pids().length]).toEqual([['supplied', '42\n'], 1]);
});

test('C2: a hook that answers after disposal began: refused, not recorded, no kernel', async () => {
  const { owner, pids } = await world();
  const { start, hooks, records, runner } = owner('a');
  const answer = deferred<undefined>();
  hooks.push(() => answer.promise);
  const { result } = start('1');
  runner.beginDispose();
  answer.resolve(undefined);
  await expect(result).rejects.toMatchObject({ code: 'closed' });
  expect([records, pids()]).toEqual([[], []]);
});

test('C3: each run is recorded: what came, where it was cut, who asked; cancelled ones too, thrown errors not', async () => {
  const { owner } = await world(undefined, 100);
  const { start, records } = owner('a');
  const from = Date.now();
  await start('for n in range(100): print("line", n)', { origin: 'tool' }).result;
  await start('1 / 0', { excludeFromContext: true }).result;
  const abort = new AbortController();
  const endless = start(loop, { signal: abort.signal });
  await endless.begun;
  abort.abort();
  await endless.result;
  const elsewhere = await world(unreachable);
  const without = elsewhere.owner('a');
  await expect(without.start('1').result).rejects.toThrow('no kernel host');
  expect(without.records).toEqual([]);

  expect(records).toHaveLength(3);
  const [long, failed, cancelled] = records;
  expect(long).toMatchObject({ exitCode: 0, truncated: true, totalLines: 100, origin: 'tool' });
  expect(long?.output.endsWith('line 99\n')).toBe(true);
  expect(long?.cut?.lines).toBe(100 - (long?.outputLines ?? 0));
  expect(failed).toMatchObject({ exitCode: 1, excludeFromContext: true, origin: 'a' });
  expect(failed?.output).toContain('ZeroDivisionError');
  expect(cancelled).toMatchObject({ cancelled: true, exitCode: undefined, code: loop });
  for (const { startedAt, endedAt } of records) {
    expect(startedAt).toBeGreaterThanOrEqual(from);
    expect(endedAt).toBeGreaterThanOrEqual(startedAt);
  }
});

test('C4: while the chat streams records wait, and then come in order; results do not wait', async () => {
  const { owner } = await world();
  const chat = owner('chat:1');
  chat.isStreaming = true;
  expect((await chat.start('print(1)').result).output).toBe('1\n');
  expect((await chat.start('print(2)').result).output).toBe('2\n');
  expect([chat.records, chat.runner.hasPending]).toEqual([[], true]);
  chat.isStreaming = false;
  await chat.start('print(3)').result;
  expect(chat.records.map(({ output }) => output)).toEqual(['1\n', '2\n', '3\n']);
});

test('C5: abort ends all that goes on, in every session and in line, which is running until then; the kernels stay', async () => {
  const { owner, pids } = await world();
  const { start, runner, records } = owner('a');
  const before = await start('x = 20').result;
  const one = start(loop);
  const inLine = start('x = 0');
  const other = start(loop, { sessionId: 'python:other' });
  await Promise.all([one.begun, other.begun]);
  runner.abort();
  expect(runner.isRunning).toBe(true);
  const ends = await Promise.all([one.result, inLine.result, other.result]);
  expect(runner.isRunning).toBe(false);
  expect(ends.map(({ cancelled }) => cancelled)).toEqual([true, true, true]);
  expect([before, ...ends]).toHaveLength(records.length);
  expect((await start('print(x + 1)').result).output).toBe('21\n');
  expect(pids().filter(alive)).toHaveLength(2);
});

test('C6: disposal waits for what goes on, aborts it, then ends the kernels and background runs of the owner, and of nobody else', async () => {
  const { owner, pids, background } = await world();
  const error = new Error('one disposer');
  const { start, runner, records } = owner('chat:1', error);
  const going = start(loop);
  await going.begun;
  const other = owner('window');
  await other.start('x = 1').result;
  const run = await background.launch(loop, { ownerId: 'chat:1' });
  await background.until(run, ({ stdout }) => stdout.includes('on'));
  const othersRun = await background.launch(loop);
  await background.until(othersRun, ({ stdout }) => stdout.includes('on'));

  const before = performance.now();
  const failure: unknown = await runner.dispose().catch((reason: unknown) => reason);
  expect(performance.now() - before).toBeGreaterThanOrEqual(2_990);
  expect(failure).toBeInstanceOf(AggregateError);
  expect((failure as AggregateError).errors).toEqual([error]);
  expect(await going.result).toMatchObject({ cancelled: true });
  expect(records).toMatchObject([{ cancelled: true }]);
  expect(background.here.find(run)).toMatchObject({ status: 'interrupted', done: true });
  expect(background.here.find(othersRun)).toMatchObject({ status: 'running' });
  const [own = 0, others = 0] = pids();
  await expectGone([own], 2_000);
  expect(alive(others)).toBe(true);
  expect((await other.start('print(x)').result).output).toBe('1\n');
  await background.here.kill(othersRun);
});

test.each([0, 2_000])(
  'C7: leaving stops nothing itself and takes less than a second; the kernel host does it, after its grace period (%i ms)',
  async (graceMs) => {
    const { hosting } = hostingForTest({ graceMs });
    const { owner, pids, background } = await world(hosting);
    const { start, records } = owner('window');
    const going = start(loop);
    await going.begun;
    const run = await background.launch('import os, time\nprint(os.getpid())\ntime.sleep(600)');
    const { stdout } = await background.until(run, (each) => each.stdout.endsWith('\n'));
    const all = [...pids(), Number(stdout)];
    all.forEach(endAfterTest);
    onTestFinished(() => hosting.leave());

    const before = performance.now();
    background.here.leave();
    await leave({
      handOn: () => undefined,
      flushRecords: () => Promise.resolve(),
      leaveHost: () => hosting.leave(),
      log: silentLog,
    });
    expect(performance.now() - before).toBeLessThan(1_000);
    if (graceMs > 0) {
      expect(all.filter(alive)).toEqual(all);
      // What the window hears of its runs from here on is its own leaving.
      expect(background.here.find(run)?.done).not.toBe(true);
    }
    await expectGone(all, graceMs + 5_000);
    expect(performance.now() - before).toBeGreaterThanOrEqual(graceMs);
    expect(records.filter(({ cancelled }) => !cancelled)).toEqual([]);
    // With time to wait nobody has seen its end.
    if (graceMs > 0) expect(records[0]?.notes?.join()).toMatch(/^Its window closed while it ran/);
  },
);
