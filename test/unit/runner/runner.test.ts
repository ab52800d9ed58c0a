import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../src/base/deferred';
import type { ExecutionResult } from '../../../src/pool/types';
import type { BeforeRunHook } from '../../../src/runner/hooks';
import type { RunRecordEntry } from '../../../src/runner/records';
import {
  createEvalRunner,
  type EvalRunner,
  type EvalRunnerOptions,
  type ExecuteOptions,
} from '../../../src/runner/runner';
import { resultOf } from '../../support/executionResult';
import { settle, watch } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const how = { language: 'python', cwd: '/w' };
const never = (): Promise<never> => new Promise(() => undefined);

interface World {
  readonly runner: EvalRunner;
  readonly executed: { readonly code: string; readonly options: ExecuteOptions }[];
  readonly records: RunRecordEntry[];
  readonly hooks: BeforeRunHook[];
  readonly warnings: string[];
  isStreaming: boolean;
}

function setUp(more: Partial<EvalRunnerOptions> = {}): World {
  const world = {
    executed: [],
    records: [],
    hooks: [],
    warnings: [],
    isStreaming: false,
  } as Omit<World, 'runner'>;
  const { execute = () => Promise.resolve(resultOf()), ...rest } = more;
  const runner = createEvalRunner({
    ownerId: 'window',
    disposers: [],
    hooks: world.hooks,
    isStreaming: () => world.isStreaming,
    record: (entry) => void world.records.push(entry),
    log: {
      warn: (text) => void world.warnings.push(text),
      error: (text) => void world.warnings.push(text),
    },
    execute: (code, options) => {
      world.executed.push({ code, options });
      return execute(code, options);
    },
    ...rest,
  });
  return Object.assign(world, { runner });
}

const codes = ({ records }: World): string[] => records.map(({ code }) => code);

describe('C1: a run', () => {
  it('goes to execute with owner, directory, signal and all that the pool understands', async () => {
    const w = setUp();
    const onOutput = (): void => undefined;
    const result = await w.runner.run('1', { ...how, onOutput, executionId: 'e', timeoutMs: 5 });
    expect(result).toEqual(resultOf());
    expect(w.executed).toHaveLength(1);
    expect(w.executed[0]!.options).toEqual({
      ...how,
      ownerId: 'window',
      onOutput,
      executionId: 'e',
      timeoutMs: 5,
      deadlineMs: Date.now() + 5,
      signal: expect.any(AbortSignal),
    });
  });

  it('is refused once disposal began, and executes and records nothing', async () => {
    const w = setUp();
    w.runner.beginDispose();
    await expect(w.runner.run('1', how)).rejects.toMatchObject({ code: 'closed' });
    expect(w.executed).toEqual([]);
    expect(w.records).toEqual([]);
    expect(w.runner.isRunning).toBe(false);
  });

  it('is executing before the call returns, where there are no hooks', () => {
    const w = setUp({ execute: never });
    void w.runner.run('a', how);
    void w.runner.run('b', how);
    expect(w.executed.map(({ code }) => code)).toEqual(['a', 'b']);
    expect(w.runner.isRunning).toBe(true);
  });

  it('is over when it has settled, also by an error', async () => {
    const w = setUp({ execute: () => Promise.reject(new Error('no kernel')) });
    await expect(w.runner.run('1', how)).rejects.toThrow('no kernel');
    expect(w.runner.isRunning).toBe(false);
    expect(w.records).toEqual([]);
  });

  it('follows the signal of its caller, with its reason', async () => {
    const execution = deferred<ExecutionResult>();
    const w = setUp({ execute: () => execution.promise });
    const caller = new AbortController();
    const run = w.runner.run('1', { ...how, signal: caller.signal });
    caller.abort(new Error('why'));
    expect(w.executed[0]!.options.signal.reason).toMatchObject({ message: 'why' });
    execution.resolve(resultOf({ cancelled: true, exitCode: undefined }));
    await run;
    expect(w.records[0]).toMatchObject({ cancelled: true, exitCode: undefined });
  });

  it('that is aborted on entry touches no kernel and is recorded as cancelled', async () => {
    const w = setUp();
    const signal = AbortSignal.abort();
    expect(await w.runner.run('1', { ...how, signal })).toMatchObject({
      cancelled: true,
      exitCode: undefined,
      output: '',
    });
    expect(w.executed).toEqual([]);
    expect(w.records[0]).toMatchObject({ code: '1', cancelled: true });
  });

  it('has its limit while it is asked of the hooks, and in line, and is not sent then', async () => {
    const slow = deferred<undefined>();
    const w = setUp();
    w.hooks.push(({ code }) => (code === 'a' ? slow.promise : undefined));
    const inLine = { ...how, inOrderOf: 's' };
    const first = w.runner.run('a', inLine);
    const second = w.runner.run('b', { ...inLine, timeoutMs: 2_000 });
    const third = w.runner.run('a', { ...how, timeoutMs: 3_000 });
    await vi.advanceTimersByTimeAsync(3_000);
    const notes = (seconds: number) => [`Timed out after ${seconds} seconds, before it ran.`];
    expect(await second).toMatchObject({ cancelled: true, notes: notes(2) });
    expect(await third).toMatchObject({ cancelled: true, notes: notes(3) });
    slow.resolve(undefined);
    await first;
    expect(w.executed.map(({ code }) => code)).toEqual(['a']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps the order of a name, however long hooks take', async () => {
    const w = setUp();
    const slow = deferred<void>();
    w.hooks.push(({ code }) => (code === 'a' ? slow.promise : undefined));
    const runs = ['a', 'b'].map((code) => w.runner.run(code, { ...how, inOrderOf: 's' }));
    await w.runner.run('free', how);
    expect(w.executed.map(({ code }) => code)).toEqual(['free']);
    slow.resolve();
    await Promise.all(runs);
    expect(w.executed.map(({ code }) => code)).toEqual(['free', 'a', 'b']);
  });

  it('in the order of a name holds up nobody when it fails or is aborted', async () => {
    const w = setUp();
    w.hooks.push(({ code }) => {
      if (code === 'a') throw new Error('no');
      return code === 'b' ? never() : undefined;
    });
    const [a, b, c] = ['a', 'b', 'c'].map((code) => w.runner.run(code, { ...how, inOrderOf: 's' }));
    await expect(a).rejects.toThrow('no');
    await settle();
    expect(w.executed).toEqual([]);
    w.runner.abort();
    expect(await b).toMatchObject({ cancelled: true });
    expect(await c).toMatchObject({ cancelled: true });
    await w.runner.run('d', { ...how, inOrderOf: 's' });
    expect(w.executed.map(({ code }) => code)).toEqual(['d']);
  });
});

describe('C2: a before-run hook', () => {
  it('gets language, code, directory and exclusion, and lets go on by answering nothing', async () => {
    const w = setUp();
    const seen: unknown[] = [];
    w.hooks.push((run) => void seen.push(run));
    await w.runner.run('1', { ...how, excludeFromContext: true, executionId: 'e' });
    await w.runner.run('2', how);
    expect(seen).toEqual([
      { ...how, code: '1', excludeFromContext: true },
      { ...how, code: '2', excludeFromContext: false },
    ]);
    expect(w.executed).toHaveLength(2);
  });

  it('supplies the result: put out, recorded, returned, later hooks not asked, no kernel touched', async () => {
    const w = setUp();
    const display = { data: { 'text/plain': 'shown' } };
    const result = resultOf({ output: 'from the hook', displayOutputs: [display] });
    const outputs: unknown[] = [];
    const asked: string[] = [];
    w.hooks.push(
      () => void asked.push('first'),
      () => Promise.resolve({ result }),
      () => void asked.push('third'),
    );
    const run = w.runner.run('1', { ...how, onOutput: (output) => outputs.push(output) });
    expect(await run).toBe(result);
    expect(outputs).toEqual([
      { type: 'stream', name: 'stdout', text: 'from the hook' },
      { type: 'display', ...display },
    ]);
    expect(asked).toEqual(['first']);
    expect(w.executed).toEqual([]);
    expect(w.records).toMatchObject([{ code: '1', output: 'from the hook' }]);
  });

  it('supplies the result also where a listener of its output throws', async () => {
    const w = setUp();
    w.hooks.push(() => ({ result: resultOf({ output: 'from the hook' }) }));
    const onOutput = (): void => {
      throw new Error('no ear');
    };
    const { output } = await w.runner.run('1', { ...how, onOutput });
    expect([output, codes(w)]).toEqual(['from the hook', ['1']]);
    expect(w.warnings).toEqual(['A listener of a run failed.']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('not this');
      },
    ],
    ['rejects', () => Promise.reject(new Error('not this'))],
  ] satisfies [string, BeforeRunHook][])(
    'that %s rejects the run and records nothing',
    async (_, hook) => {
      const w = setUp();
      w.hooks.push(hook);
      await expect(w.runner.run('1', how)).rejects.toThrow('not this');
      expect(w.executed).toEqual([]);
      expect(w.records).toEqual([]);
      expect(w.runner.isRunning).toBe(false);
    },
  );

  it.each([undefined, { result: resultOf() }])(
    'that answers after disposal began is refused and not recorded (%o)',
    async (answer) => {
      const w = setUp();
      const late = deferred<typeof answer>();
      const asked: string[] = [];
      w.hooks.push(
        () => late.promise,
        () => void asked.push('next'),
      );
      const run = watch(w.runner.run('1', how));
      w.runner.beginDispose();
      late.resolve(answer);
      await expect(run.promise).rejects.toMatchObject({ code: 'closed' });
      expect(asked).toEqual([]);
      expect(w.executed).toEqual([]);
      expect(w.records).toEqual([]);
    },
  );

  it('that comes later counts from the next run on', async () => {
    const w = setUp();
    const result = resultOf({ output: 'late' });
    w.hooks.push(() => {
      w.hooks.push(() => ({ result }));
    });
    expect((await w.runner.run('1', how)).output).toBe('');
    w.hooks.shift();
    expect((await w.runner.run('2', how)).output).toBe('late');
  });

  it('may run code itself', async () => {
    const w = setUp();
    w.hooks.push(async ({ code }) => {
      if (code === 'outer') await w.runner.run('inner', how);
    });
    await w.runner.run('outer', how);
    expect(codes(w)).toEqual(['inner', 'outer']);
  });

  it('can’t change what the next one is told, nor what runs', async () => {
    const w = setUp();
    const seen: string[] = [];
    w.hooks.push(
      (run) => void Object.assign(run, { code: 'changed' }),
      ({ code }) => void seen.push(code),
    );
    await w.runner.run('1', how);
    expect(seen).toEqual(['1']);
    expect(w.executed[0]!.code).toBe('1');
  });

  it('that never answers is no longer waited for once the run is aborted', async () => {
    const w = setUp();
    w.hooks.push(never);
    const run = w.runner.run('1', how);
    w.runner.abort();
    expect(await run).toMatchObject({ cancelled: true, output: '' });
    expect(w.executed).toEqual([]);
    expect(w.records).toMatchObject([{ code: '1', cancelled: true }]);
  });
});

describe('C3: a record', () => {
  it('says what ran, how it ended, where it was cut, when, who asked and whether it is excluded', async () => {
    vi.setSystemTime(5_000);
    const result = resultOf({
      output: 'end',
      exitCode: 1,
      truncated: true,
      totalLines: 100,
      totalBytes: 900,
      outputLines: 1,
      outputBytes: 3,
      artifact: '/full.txt',
    });
    const execution = deferred<ExecutionResult>();
    const w = setUp({ execute: () => execution.promise });
    const run = w.runner.run('1/0', {
      ...how,
      excludeFromContext: true,
      origin: 'tool',
      executionId: 'e',
    });
    await vi.advanceTimersByTimeAsync(250);
    execution.resolve(result);
    await run;
    expect(w.records).toEqual([
      {
        ...how,
        code: '1/0',
        output: 'end',
        exitCode: 1,
        cancelled: false,
        truncated: true,
        cut: { lines: 99, bytes: 897 },
        totalLines: 100,
        totalBytes: 900,
        outputLines: 1,
        outputBytes: 3,
        artifact: '/full.txt',
        excludeFromContext: true,
        origin: 'tool',
        ownerId: 'window',
        executionId: 'e',
        startedAt: 5_000,
        endedAt: 5_250,
      },
    ]);
  });

  it('names the owner where nobody said who asked, and no cut where there is none', async () => {
    const w = setUp();
    await w.runner.run('1', how);
    expect(w.records[0]).toMatchObject({
      origin: 'window',
      cut: undefined,
      excludeFromContext: false,
    });
  });
});

describe('C4: records of a streaming chat', () => {
  it('wait, and are written in order at the flush', async () => {
    const w = setUp();
    w.isStreaming = true;
    for (const code of ['a', 'b', 'c']) await w.runner.run(code, how);
    expect(w.records).toEqual([]);
    expect(w.runner.hasPending).toBe(true);
    w.runner.flush();
    expect(codes(w)).toEqual(['a', 'b', 'c']);
    expect(w.runner.hasPending).toBe(false);
  });

  it('are written before one that need not wait', async () => {
    const w = setUp();
    w.isStreaming = true;
    await w.runner.run('a', how);
    w.isStreaming = false;
    await w.runner.run('b', how);
    expect(codes(w)).toEqual(['a', 'b']);
  });

  it('leave the queue only once written: a failing write keeps its place', async () => {
    let failures = 1;
    const written: string[] = [];
    const w = setUp({
      record: ({ code }) => {
        if (code === 'b' && failures-- > 0) throw new Error('disk full');
        written.push(code);
      },
    });
    w.isStreaming = true;
    for (const code of ['a', 'b', 'c']) await w.runner.run(code, how);
    expect(() => w.runner.flush()).toThrow('disk full');
    expect(written).toEqual(['a']);
    expect(w.runner.hasPending).toBe(true);
    w.runner.flush();
    expect(written).toEqual(['a', 'b', 'c']);
  });

  it('that fail to be written cost no run its result, and are told', async () => {
    let failures = 1;
    const written: string[] = [];
    const w = setUp({
      record: ({ code }) => {
        if (failures-- > 0) throw new Error('disk full');
        written.push(code);
      },
    });
    expect(await w.runner.run('a', how)).toEqual(resultOf());
    expect(w.warnings).toHaveLength(1);
    await w.runner.run('b', how);
    expect(written).toEqual(['a', 'b']);
  });

  it('are each written once, though the writer flushes too', async () => {
    const written: string[] = [];
    const w: World = setUp({
      record: ({ code }) => {
        w.runner.flush();
        written.push(code);
      },
    });
    w.isStreaming = true;
    for (const code of ['a', 'b']) await w.runner.run(code, how);
    w.runner.flush();
    expect(written).toEqual(['a', 'b']);
  });
});

describe('C5: abort', () => {
  it('signals every run and all tracked work, which go on until they settle', async () => {
    const execution = deferred<ExecutionResult>();
    const work = deferred<void>();
    const controller = new AbortController();
    const w = setUp({ execute: () => execution.promise });
    const run = w.runner.run('1', how);
    w.runner.track(work.promise, controller);
    w.runner.abort();
    expect(w.executed[0]!.options.signal.aborted).toBe(true);
    expect(controller.signal.aborted).toBe(true);
    expect(w.runner.isRunning).toBe(true);
    execution.resolve(resultOf({ cancelled: true }));
    await run;
    expect(w.runner.isRunning).toBe(true);
    work.reject(new Error('aborted'));
    await settle();
    expect(w.runner.isRunning).toBe(false);
    // It is no end of the door.
    w.runner.track(Promise.resolve(), new AbortController());
    expect(w.runner.isRunning).toBe(true);
  });
});

describe('C6: disposal', () => {
  it('waits for nothing where nothing goes on, and asks all disposers at once', async () => {
    const asked: string[] = [];
    const ends = [deferred<void>(), deferred<void>()];
    const w = setUp({
      disposers: ends.map(
        ({ promise }) =>
          (owner) => (asked.push(owner), promise),
      ),
    });
    const disposal = watch(w.runner.dispose());
    expect(asked).toEqual(['window', 'window']);
    expect(vi.getTimerCount()).toBe(0);
    expect(w.runner.dispose()).toBe(w.runner.dispose());
    ends.forEach(({ resolve }) => resolve());
    await disposal.promise;
    expect(asked).toHaveLength(2);
  });

  it('refuses runs at once, and goes on when the last one has settled', async () => {
    const execution = deferred<ExecutionResult>();
    const disposers = [vi.fn(() => Promise.resolve())];
    const w = setUp({ execute: () => execution.promise, disposers });
    const run = w.runner.run('1', how);
    const disposal = w.runner.dispose();
    await expect(w.runner.run('2', how)).rejects.toMatchObject({ code: 'closed' });
    await vi.advanceTimersByTimeAsync(1_000);
    const tracked = deferred<void>();
    w.runner.track(tracked.promise, new AbortController());
    execution.resolve(resultOf());
    await run;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(disposers[0]).not.toHaveBeenCalled();
    tracked.resolve();
    await disposal;
    expect(disposers[0]).toHaveBeenCalledWith('window');
    expect(w.warnings).toEqual([]);
    expect(codes(w)).toEqual(['1']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('aborts at 3,000 ms, goes on at 4,000 ms regardless, and says so', async () => {
    const disposers = [vi.fn(() => Promise.resolve())];
    const w = setUp({ execute: never, disposers });
    void w.runner.run('1', how);
    const disposal = watch(w.runner.dispose());
    await vi.advanceTimersByTimeAsync(2_999);
    expect(w.executed[0]!.options.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(w.executed[0]!.options.signal.aborted).toBe(true);
    const late = new AbortController();
    w.runner.track(never(), late);
    expect(late.signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(999);
    expect(disposers[0]).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(disposers[0]).toHaveBeenCalledTimes(1);
    await disposal.promise;
    expect(w.warnings).toHaveLength(1);
    expect(w.runner.isRunning).toBe(true);
  });

  it('goes on as soon as what was aborted has settled', async () => {
    const w = setUp({
      execute: (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve(resultOf({ cancelled: true }))),
        ),
    });
    void w.runner.run('1', how);
    const disposal = watch(w.runner.dispose());
    await vi.advanceTimersByTimeAsync(3_000);
    expect(disposal.state).toBe('resolved');
    expect(w.records).toMatchObject([{ cancelled: true }]);
    expect(w.warnings).toEqual([]);
  });

  it('attempts every disposer; one AggregateError holds exactly what failed', async () => {
    const [first, second] = [new Error('python'), new Error('background')];
    const third = vi.fn(() => Promise.resolve());
    const w = setUp({
      disposers: [
        () => Promise.reject(first),
        () => {
          throw second;
        },
        third,
      ],
    });
    const error: unknown = await w.runner.dispose().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors).toEqual([first, second]);
    expect(third).toHaveBeenCalledTimes(1);
  });

  it('writes what still waits, and refuses a hook that comes too late', async () => {
    const w = setUp();
    w.isStreaming = true;
    await w.runner.run('a', how);
    w.hooks.push(never);
    const hung = watch(w.runner.run('b', how));
    const disposal = w.runner.dispose();
    await vi.advanceTimersByTimeAsync(3_000);
    await expect(hung.promise).rejects.toMatchObject({ code: 'closed' });
    await disposal;
    expect(codes(w)).toEqual(['a']);
  });
});
