import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../src/base/deferred';
import type { BackgroundKernel } from '../../../src/runner/backgroundTypes';
import type { Lease } from '../../../src/runner/lease';
import { backgroundWorld, FakeBackgroundKernel } from '../../support/backgroundWorld';
import { settle, watch } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const FAILED = 'background execution failed';
const CLEANUP = 'background cleanup failed';
const never = (): Promise<never> => new Promise(() => undefined);

describe('D1: a launch', () => {
  it('answers when its kernel has started, and the run is seen until and after its end', async () => {
    vi.setSystemTime(1_000);
    const { runs, kernels } = backgroundWorld();
    expect(await runs.launch('train()', { ownerId: 'w', language: 'python' })).toEqual({
      executionId: 'run-1',
      status: 'running',
    });
    expect(kernels[0]!.executions).toEqual(['train()']);
    kernels[0]!.print('epoch 1\n');
    kernels[0]!.print({ type: 'stream', name: 'stderr', text: 'warning\n' });
    expect(runs.peek('run-1')).toEqual({
      executionId: 'run-1',
      status: 'running',
      done: false,
      stdout: 'epoch 1\nwarning\n',
      interrupted: false,
      error: undefined,
      startedAt: 1_000,
      endedAt: undefined,
      phase: 'executing',
      request: {
        executionId: 'run-1',
        code: 'train()',
        ownerId: 'w',
        language: 'python',
        startedAt: 1_000,
      },
    });
    await vi.advanceTimersByTimeAsync(500);
    kernels[0]!.outcome.resolve({});
    await settle();
    expect(runs.list()).toMatchObject([
      { status: 'done', done: true, error: undefined, endedAt: 1_500 },
    ]);
    expect(kernels[0]!.shutdowns).toBe(1);
  });

  it('has 16 slots, one each until the run is done', async () => {
    const { runs, kernels } = backgroundWorld();
    for (let i = 0; i < 16; i++) await runs.launch('x');
    await expect(runs.launch('x')).rejects.toMatchObject({ code: 'too_many_runs' });
    expect(kernels).toHaveLength(16);
    kernels[3]!.outcome.resolve({});
    await settle();
    await runs.launch('x');
    expect(runs.list()).toHaveLength(17);
  });

  it('counts a starting run, so that launches at once never exceed the slots', async () => {
    const world = backgroundWorld({ maxRunning: 2 });
    const launches = await Promise.allSettled([1, 2, 3, 4].map(() => world.runs.launch('x')));
    expect(launches.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(world.leases).toBe(2);
  });

  it('enters its lease first, and is refused with it', async () => {
    const { runs, kernels } = backgroundWorld({
      enterLease: () => Promise.reject(new Error('busy')),
    });
    await expect(runs.launch('x')).rejects.toThrow('busy');
    expect(kernels).toEqual([]);
    expect(runs.list()).toEqual([]);
  });

  it('shows an error of the code as it is', async () => {
    const { runs, kernels } = backgroundWorld();
    await runs.launch('x');
    kernels[0]!.outcome.resolve({ error: 'ZeroDivisionError: division by zero' });
    await settle();
    expect(runs.peek('run-1')).toMatchObject({
      status: 'failed',
      error: 'ZeroDivisionError: division by zero',
    });
  });

  it('takes what a kernel says of its output at the end, where that is more', async () => {
    const { runs, kernels } = backgroundWorld();
    await runs.launch('x');
    kernels[0]!.outcome.resolve({ stdout: 'all of it' });
    await settle();
    expect(runs.peek('run-1').stdout).toBe('all of it');
  });

  it('of an id that nobody knows is an error', async () => {
    const { runs } = backgroundWorld();
    expect(() => runs.peek('?')).toThrow(expect.objectContaining({ code: 'run_not_found' }));
    await expect(runs.interrupt('?')).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it('keeps the whole output on disk, and does without where that fails', async () => {
    const kept: unknown[] = [];
    let isFull = false;
    const world = backgroundWorld({
      openArtifact: ({ executionId }) => ({
        path: `/out/${executionId}`,
        write: (piece) => {
          if (isFull) throw new Error('disk full');
          kept.push(piece);
        },
        close: () => Promise.resolve(void kept.push('closed')),
      }),
    });
    await world.runs.launch('x');
    await world.runs.launch('y');
    world.kernels[0]!.print('a');
    world.kernels[0]!.outcome.resolve({});
    await settle();
    expect(kept).toEqual(['a', 'closed']);
    expect(world.runs.peek('run-1').artifact).toBe('/out/run-1');
    isFull = true;
    world.kernels[1]!.print('b');
    world.kernels[1]!.outcome.resolve({});
    await settle();
    expect(world.runs.peek('run-2')).toMatchObject({ status: 'done', stdout: 'b' });
    expect(world.runs.peek('run-2')).not.toHaveProperty('artifact');
    expect(world.logged).toHaveLength(2);
  });

  it('is recorded ahead of its start and of its code, until it is over', async () => {
    const told: unknown[] = [];
    const { runs, kernels } = backgroundWorld({
      onRecord: (id, record) => void told.push([id, record?.phase]),
    });
    await runs.launch('x');
    expect(told).toEqual([
      ['run-1', 'starting'],
      ['run-1', 'running'],
    ]);
    kernels[0]!.outcome.resolve({});
    await settle();
    expect(told).toHaveLength(3);
    expect(told[2]).toEqual(['run-1', undefined]);
  });

  it('of an earlier window is taken up, and ends as any other', async () => {
    const world = backgroundWorld();
    const kernel = new FakeBackgroundKernel();
    const release = vi.fn();
    const request = { executionId: 'old', code: 'x', startedAt: 7, ownerId: 'w' };
    world.runs.takeUp({
      request,
      kernel,
      lease: { release },
      resume: ({ onOutput }) => {
        onOutput('so far');
        return kernel.outcome.promise;
      },
    });
    expect(world.runs.peek('old')).toMatchObject({ stdout: 'so far', startedAt: 7, done: false });
    kernel.outcome.resolve({});
    await settle();
    expect(world.runs.peek('old')).toMatchObject({ status: 'done' });
    expect([kernel.executions.length, kernel.shutdowns]).toEqual([0, 1]);
    expect(release).toHaveBeenCalledTimes(1);
  });

  it('keeps the last of those that are done, and forgets one on request', async () => {
    const { runs, kernels } = backgroundWorld({ maxDone: 2 });
    for (let i = 0; i < 4; i++) {
      await runs.launch('x');
      if (i !== 1) kernels[i]!.outcome.resolve({});
      await settle();
    }
    expect(runs.list().map((run) => run.executionId)).toEqual(['run-2', 'run-3', 'run-4']);
    runs.forget('run-3');
    expect(() => runs.forget('run-2')).toThrow(expect.objectContaining({ code: 'bad_input' }));
    expect(runs.list().map((run) => run.executionId)).toEqual(['run-2', 'run-4']);
  });
});

describe('D1: interrupt', () => {
  it('of one that is done makes no call', async () => {
    const { runs, kernels } = backgroundWorld();
    await runs.launch('x');
    kernels[0]!.outcome.resolve({});
    await settle();
    expect(await runs.interrupt('run-1')).toMatchObject({ status: 'done' });
    expect(kernels[0]!.interrupts).toBe(0);
  });

  it('calls once and answers when the run is over', async () => {
    const { runs, kernels } = backgroundWorld();
    await runs.launch('x');
    kernels[0]!.onInterrupt = () => {
      kernels[0]!.outcome.resolve({ interrupted: true });
      return Promise.resolve({ delivered: true, target: 'it' });
    };
    const report = await runs.interrupt('run-1');
    expect(report).toMatchObject({ status: 'interrupted', interrupted: true, done: true });
    expect(report).not.toHaveProperty('interruptUndelivered');
    expect(kernels[0]!.interrupts).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    [
      'not delivered',
      () => Promise.resolve({ delivered: false, target: 'it', reason: 'gone' }),
      'gone',
    ],
    [
      'thrown',
      () => Promise.reject(new Error('EPERM /secret')),
      'The interrupt could not be sent.',
    ],
    ['no verdict', () => Promise.resolve(undefined), undefined],
    ['no answer', never, undefined],
  ] satisfies [string, FakeBackgroundKernel['onInterrupt'], string | undefined][])(
    'waits 5,000 ms for one that is not heeded (%s)',
    async (_, onInterrupt, undelivered) => {
      const { runs, kernels } = backgroundWorld();
      await runs.launch('x');
      kernels[0]!.onInterrupt = onInterrupt;
      const report = watch(runs.interrupt('run-1'));
      await vi.advanceTimersByTimeAsync(4_999);
      expect(report.state).toBe('pending');
      await vi.advanceTimersByTimeAsync(1);
      const { interruptUndelivered, status } = await report.promise;
      expect([status, interruptUndelivered]).toEqual(['running', undelivered]);
      expect(kernels[0]!.interrupts).toBe(1);
    },
  );

  it('of one that starts calls it off: its code is never sent', async () => {
    const kernel = new FakeBackgroundKernel();
    const started = deferred<BackgroundKernel>();
    let signal: AbortSignal | undefined;
    const world = backgroundWorld({
      startKernel: (start) => {
        signal = start.signal;
        return started.promise;
      },
    });
    const launch = world.runs.launch('x');
    await settle();
    const report = world.runs.interrupt('run-1');
    expect(signal?.aborted).toBe(true);
    started.resolve(kernel);
    expect(await report).toMatchObject({ status: 'interrupted', done: true, error: undefined });
    await launch;
    expect([kernel.executions.length, kernel.shutdowns, world.leases]).toEqual([0, 1, 0]);
  });
});

describe('D1: the buffer', () => {
  it('keeps the first 1,000,000 characters, then one mark, however much follows', async () => {
    const { runs, kernels } = backgroundWorld();
    await runs.launch('x');
    kernels[0]!.print('x'.repeat(999_999));
    kernels[0]!.print('y');
    expect(runs.peek('run-1').stdout).toHaveLength(1_000_000);
    kernels[0]!.print('z');
    const { stdout } = runs.peek('run-1');
    expect(stdout.slice(0, 1_000_000)).toBe('x'.repeat(999_999) + 'y');
    expect(stdout.slice(1_000_000)).toMatch(/^\n\[.*left out.*\]\n$/);
    for (let i = 0; i < 5; i++) kernels[0]!.print('more'.repeat(100_000));
    expect(runs.peek('run-1').stdout).toBe(stdout);
  });

  it.each([
    ['in one piece', ['x'.repeat(999_999) + '😀']],
    ['in two', ['x'.repeat(999_999) + '\ud83d', '\ude00']],
  ])('splits no surrogate pair that comes %s', async (_, pieces) => {
    const { runs, kernels } = backgroundWorld();
    await runs.launch('x');
    pieces.forEach((piece) => kernels[0]!.print(piece));
    expect(runs.peek('run-1').stdout).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
    expect(runs.peek('run-1').stdout.slice(0, 1_000_000)).toBe('x'.repeat(999_999) + '\n');
  });

  it('shows no half of a pair whose rest is on its way', async () => {
    const { runs, kernels } = backgroundWorld();
    await runs.launch('x');
    kernels[0]!.print('a\ud83d');
    expect(runs.peek('run-1').stdout).toBe('a');
    kernels[0]!.print('\ude00');
    expect(runs.peek('run-1').stdout).toBe('a😀');
  });
});

describe('D1: an owner’s end', () => {
  it('ends its runs, also one that waits for its lease, and nobody else’s', async () => {
    const lease = deferred<Lease>();
    const release = vi.fn();
    const world = backgroundWorld({
      enterLease: ({ code }) => (code === 'late' ? lease.promise : { release: () => undefined }),
    });
    await world.runs.launch('mine', { ownerId: 'a' });
    await world.runs.launch('other', { ownerId: 'b' });
    const late = world.runs.launch('late', { ownerId: 'a' });
    const disposal = watch(world.runs.disposeOwner('a'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(disposal.state).toBe('resolved');
    expect(world.runs.list().map(({ status }) => status)).toEqual(['failed', 'running']);
    lease.resolve({ release });
    await expect(late).rejects.toMatchObject({ code: 'closed' });
    expect(release).toHaveBeenCalledTimes(1);
    expect(world.kernels).toHaveLength(2);
    await world.runs.launch('again', { ownerId: 'a' });
  });

  it('rejects where a run stays though killed', async () => {
    const world = backgroundWorld();
    await world.runs.launch('x', { ownerId: 'a' });
    world.kernels[0]!.onKill = () => Promise.reject(new Error('not confirmed'));
    const disposal = watch(world.runs.disposeOwner('a'));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(disposal.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    await expect(disposal.promise).rejects.toMatchObject({ code: 'stop_unconfirmed' });
    expect(world.runs.peek('run-1')).toMatchObject({ status: 'running', done: false });
    expect(world.leases).toBe(1);
  });
});

describe('D3', () => {
  it('hung run, shutdown with 10 ms per run: interrupted, killed, shut down once; failed; then closed', async () => {
    const world = backgroundWorld();
    await world.runs.launch('while True: pass');
    const kernel = world.kernels[0]!;
    const count = watch(world.runs.shutdown({ timeoutPerRunMs: 10 }));
    await vi.advanceTimersByTimeAsync(9);
    expect([kernel.interrupts, kernel.kills]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await count.promise).toBe(1);
    expect([kernel.interrupts, kernel.kills, kernel.shutdowns]).toEqual([1, 1, 1]);
    expect(world.runs.peek('run-1')).toMatchObject({
      status: 'failed',
      done: true,
      error: 'It was killed.',
      killed: true,
    });
    expect(world.leases).toBe(0);
    await expect(world.runs.launch('x')).rejects.toThrow(/closed/);
    expect(world.leases).toBe(0);
    expect(world.kernels).toHaveLength(1);
  });

  it('several hung runs are stopped at once', async () => {
    const world = backgroundWorld();
    for (let i = 0; i < 3; i++) await world.runs.launch('x');
    const count = watch(world.runs.shutdown({ timeoutPerRunMs: 10 }));
    await vi.advanceTimersByTimeAsync(10);
    expect(count.state).toBe('resolved');
    expect(await count.promise).toBe(3);
  });

  it('shutdown counts a run that starts, and shuts down its kernel when it comes', async () => {
    const kernel = new FakeBackgroundKernel();
    const started = deferred<BackgroundKernel>();
    const world = backgroundWorld({ startKernel: () => started.promise });
    const launch = watch(world.runs.launch('x'));
    await settle();
    const count = watch(world.runs.shutdown());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await count.promise).toBe(1);
    started.resolve(kernel);
    await expect(launch.promise).rejects.toThrow(/closed/);
    expect([kernel.executions.length, kernel.shutdowns]).toEqual([0, 1]);
    expect(world.runs.list()).toEqual([]);
    expect(world.leases).toBe(0);
  });

  it('the lease is held until the run’s end, not until its launch returned', async () => {
    const world = backgroundWorld();
    await world.runs.launch('x');
    expect(world.leases).toBe(1);
    world.kernels[0]!.outcome.resolve({});
    await settle();
    expect(world.leases).toBe(0);
  });

  it.each([undefined, null, {}, { release: 1 }, 'lease'])(
    'a malformed lease (%o) is refused before any kernel is made',
    async (lease) => {
      const { runs, kernels } = backgroundWorld({ enterLease: () => lease as unknown as Lease });
      await expect(runs.launch('x')).rejects.toMatchObject({ code: 'capture_unavailable' });
      expect(kernels).toEqual([]);
      expect(runs.list()).toEqual([]);
    },
  );

  it('a failing start: error passed on, nothing listed, lease and slot free', async () => {
    const error = new Error('no interpreter');
    const world = backgroundWorld({ startKernel: () => Promise.reject(error), maxRunning: 1 });
    await expect(world.runs.launch('x')).rejects.toBe(error);
    await expect(world.runs.launch('x')).rejects.toBe(error);
    expect(world.runs.list()).toEqual([]);
    expect(world.leases).toBe(0);
  });

  it('a launch that fails once its kernel has arrived: shut down once, nothing listed, lease free', async () => {
    const error = new Error('not recorded');
    const world = backgroundWorld({
      onRecord: (_, record) => {
        if (record?.phase === 'running') throw error;
      },
    });
    await expect(world.runs.launch('x')).rejects.toBe(error);
    expect([world.kernels[0]!.executions.length, world.kernels[0]!.shutdowns]).toEqual([0, 1]);
    expect(world.runs.list()).toEqual([]);
    expect(world.leases).toBe(0);
  });

  it.each([new DOMException('stop', 'AbortError'), 'KeyboardInterrupt', undefined])(
    'a thrown interrupt-class value (%s): failed with the fixed text, slot and lease free, next launch works',
    async (thrown) => {
      const world = backgroundWorld({ maxRunning: 1 });
      await world.runs.launch('x');
      world.kernels[0]!.outcome.reject(thrown);
      await settle();
      expect(world.runs.peek('run-1')).toMatchObject({
        status: 'failed',
        error: FAILED,
        done: true,
      });
      expect(world.leases).toBe(0);
      await world.runs.launch('y');
    },
  );

  it('an execute that throws at once is no different', async () => {
    const kernel = new FakeBackgroundKernel();
    kernel.execute = () => {
      throw new Error('/home/me/secret');
    };
    const world = backgroundWorld({ startKernel: () => Promise.resolve(kernel) });
    await world.runs.launch('x');
    await settle();
    expect(world.runs.peek('run-1')).toMatchObject({ status: 'failed', error: FAILED });
    expect(world.logged).toContainEqual(expect.objectContaining({ message: '/home/me/secret' }));
  });

  it('a failing kernel shutdown after success: failed, clean-up text', async () => {
    const world = backgroundWorld();
    await world.runs.launch('x');
    world.kernels[0]!.onShutdown = () => Promise.reject(new Error('pid 4711'));
    world.kernels[0]!.outcome.resolve({});
    await settle();
    expect(world.runs.peek('run-1')).toMatchObject({
      status: 'failed',
      error: CLEANUP,
      done: true,
    });
    expect(world.leases).toBe(0);
  });

  it('a failing release after success: the same', async () => {
    const world = backgroundWorld({
      enterLease: () => ({ release: () => Promise.reject(new Error('no')) }),
    });
    await world.runs.launch('x');
    world.kernels[0]!.outcome.resolve({});
    await settle();
    expect(world.runs.peek('run-1')).toMatchObject({ status: 'failed', error: CLEANUP });
  });

  it.each(['never settles', 'fails by the kill'])(
    'execute over but clean-up blocked: still running; shutdown interrupts, kills, then done (%s)',
    async (how) => {
      const world = backgroundWorld();
      await world.runs.launch('x');
      const kernel = world.kernels[0]!;
      const blocked = deferred<void>();
      kernel.onShutdown = () => blocked.promise;
      if (how !== 'never settles') {
        kernel.onKill = () => {
          blocked.reject(new Error('socket closed'));
          return Promise.resolve();
        };
      }
      kernel.outcome.resolve({});
      await settle();
      expect(world.runs.peek('run-1')).toMatchObject({
        status: 'running',
        done: false,
        endedAt: undefined,
        phase: 'cleaningUp',
      });
      expect(world.leases).toBe(1);
      const count = world.runs.shutdown({ timeoutPerRunMs: 10 });
      await vi.advanceTimersByTimeAsync(10);
      expect(await count).toBe(1);
      expect([kernel.interrupts, kernel.kills, kernel.shutdowns]).toEqual([1, 1, 1]);
      expect(world.runs.peek('run-1')).toMatchObject({ status: 'done', done: true });
      expect(world.leases).toBe(0);
    },
  );

  it('all fields are published together, and once', async () => {
    const world = backgroundWorld();
    const seen = new Set<string>();
    world.runs.onDidChange(({ executionId }) => {
      const { status, done, endedAt, error } = world.runs.peek(executionId);
      seen.add(JSON.stringify([status, done, endedAt !== undefined, error]));
    });
    await world.runs.launch('x');
    world.kernels[0]!.print('a');
    world.kernels[0]!.outcome.resolve({ error: 'E' });
    await settle();
    world.kernels[0]!.print('late');
    expect([...seen]).toEqual(['["running",false,false,null]', '["failed",true,true,"E"]']);
    expect(world.runs.peek('run-1').stdout).toBe('a');
  });
});
