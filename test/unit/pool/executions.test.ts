import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KernelExit } from '../../../src/kernel/kernel';
import type { KernelOutput } from '../../../src/kernel/output';
import {
  type FakeKernel,
  interruptedReply,
  okReply,
  type ShutdownPlan,
} from '../../support/fakeKernel';
import type { ExecutionResult } from '../../../src/pool/types';
import { harness, settle, watch, type Harness, type Watched } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const say = (kernel: FakeKernel, output: KernelOutput | string): void =>
  kernel.unanswered[0]?.options.onOutput(output);

describe('A6 order', () => {
  it('runs one at a time, first come first served', async () => {
    const h = harness({ execute: 'hang' });
    const runs = ['1', '2', '3'].map((code) => watch(h.run('a', 's', { code })));
    await settle();
    for (const code of ['1', '2', '3']) {
      expect(h.kernels.at(0).codes.at(-1)).toBe(code);
      expect(h.kernels.at(0).unanswered).toHaveLength(1);
      h.kernels.at(0).finish();
      await settle();
    }
    expect(runs.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'resolved']);
  });

  it('sends the code of an idle session before execute returns', async () => {
    const h = harness();
    await h.run('a', 's');
    void h.run('a', 's', { code: 'at once' });
    expect(h.kernels.at(0).codes).toEqual(['x', 'at once']);
  });

  it('a waiting call ends at its own deadline or abort, and the queue goes on without it', async () => {
    const h = harness({ execute: 'hang' });
    const abort = new AbortController();
    void h.run('a', 's', { code: 'first' });
    const timed = watch(h.run('a', 's', { code: 'timed', timeoutMs: 3_000 }));
    const aborted = watch(h.run('a', 's', { code: 'aborted', signal: abort.signal }));
    const last = watch(h.run('a', 's', { code: 'last' }));
    await settle();
    abort.abort();
    expect(await aborted.promise).toMatchObject({
      cancelled: true,
      exitCode: undefined,
      output: '',
    });
    await vi.advanceTimersByTimeAsync(2_999);
    expect(timed.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(await timed.promise).toMatchObject({
      cancelled: true,
      exitCode: undefined,
      output: 'Timed out after 3 seconds, before it ran.',
    });
    h.kernels.at(0).finish();
    await settle();
    h.kernels.at(0).finish();
    await last.promise;
    expect(h.kernels.at(0).codes).toEqual(['first', 'last']);
  });

  it('calls in line behind a claimed session acquire anew, in their order', async () => {
    const h = harness({ execute: 'hang', shutdown: 'hang' });
    const first = watch(h.run('a', 's', { code: 'first' }));
    const second = watch(h.run('a', 's', { code: 'second' }));
    const third = watch(h.run(undefined, 's', { code: 'third' }));
    await settle();
    void h.pool.disposeOwner('a');
    await settle();
    expect(h.kernels.starts).toBe(2);
    expect(h.kernels.at(1).codes).toEqual(['second']);
    h.kernels.at(1).finish();
    await second.promise;
    await settle();
    h.kernels.at(1).finish();
    await third.promise;
    expect(h.kernels.at(1).codes).toEqual(['second', 'third']);
    h.kernels.at(0).confirm();
    expect(await first.promise).toMatchObject({ cancelled: true });
  });

  it.each(['continue', 'cancel'] as const)(
    'an error lets the same owner’s queue %s, and never another’s',
    async (policy) => {
      const h = harness({ execute: 'hang', queueOnError: policy });
      void h.run('a', 's', { code: 'fails' });
      const mine = watch(h.run('a', 's', { code: 'mine' }));
      const other = watch(h.run('b', 's', { code: 'other' }));
      await settle();
      h.kernels.at(0).finish({ ...okReply, status: 'error' });
      await settle();
      if (policy === 'continue') h.kernels.at(0).finish();
      await settle();
      h.kernels.at(0).finish();
      expect(await other.promise).toMatchObject({ exitCode: 0 });
      expect(await mine.promise).toMatchObject({ cancelled: policy === 'cancel' });
    },
  );
});

describe('A10 deadlines and aborts', () => {
  it.each([
    ['an expired deadline', { deadlineMs: 0 }, 'Timed out after 1 second, before it ran.'],
    ['an empty timeout', { timeoutMs: 0 }, 'Timed out after 1 second, before it ran.'],
    ['an aborted signal', { signal: AbortSignal.abort() }, ''],
    [
      'a signal that timed out',
      { signal: AbortSignal.abort(new DOMException('late', 'TimeoutError')) },
      'Timed out after 1 second, before it ran.',
    ],
  ])('%s on entry starts no kernel', async (_, limits, output) => {
    const h = harness();
    for (const mode of ['session', 'per-call'] as const) {
      const result = await h.pool.execute('x', { cwd: '/w', mode, ...limits });
      expect(result).toMatchObject({ cancelled: true, exitCode: undefined, output });
    }
    expect(h.kernels.starts).toBe(0);
  });

  it('an absolute deadline beats a relative timeout', async () => {
    const h = harness({ execute: 'heedAbort' });
    const run = watch(
      h.pool.execute('x', { cwd: '/w', timeoutMs: 10, deadlineMs: Date.now() + 5_000 }),
    );
    await vi.advanceTimersByTimeAsync(4_999);
    expect(run.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(await run.promise).toMatchObject({ output: 'Timed out after 5 seconds.' });
  });

  it.each([
    [400, '1 second'],
    [1_499, '1 second'],
    [1_500, '2 seconds'],
    [61_000, '61 seconds'],
  ])('a limit of %i ms is told as %s, after the partial output', async (timeoutMs, told) => {
    const h = harness({ execute: 'heedAbort' });
    const run = watch(h.run('a', 's', { timeoutMs }));
    await settle();
    say(h.kernels.at(0), 'partial');
    await vi.advanceTimersByTimeAsync(timeoutMs);
    expect(await run.promise).toMatchObject({
      output: `partial\nTimed out after ${told}.`,
      notes: [`Timed out after ${told}.`],
      cancelled: true,
      exitCode: undefined,
    });
  });

  it('an abort keeps the partial output without a note', async () => {
    const h = harness({ execute: 'heedAbort' });
    const abort = new AbortController();
    const run = watch(h.run('a', 's', { signal: abort.signal }));
    await settle();
    say(h.kernels.at(0), 'partial');
    abort.abort();
    expect(await run.promise).toMatchObject({
      output: 'partial',
      cancelled: true,
      exitCode: undefined,
    });
  });

  it('the kernel is told why by the name of the signal’s reason', async () => {
    const h = harness({ execute: 'heedAbort' });
    const abort = new AbortController();
    const aborted = h.run('a', 's', { signal: abort.signal });
    const timed = h.run('a', 't', { timeoutMs: 10 });
    await settle();
    abort.abort();
    await vi.advanceTimersByTimeAsync(10);
    await Promise.all([aborted, timed]);
    const reasons = h.kernels.all.map((kernel) => {
      const reason: unknown = kernel.executions[0]?.options.signal.reason;
      return reason instanceof DOMException ? reason.name : reason;
    });
    expect(reasons).toEqual(['AbortError', 'TimeoutError']);
  });

  describe('a kernel that offers no kill and ignores its signal', () => {
    const stuckRun = async (
      shutdown: ShutdownPlan,
    ): Promise<{ h: Harness; next: Watched<ExecutionResult> }> => {
      const h = harness({ execute: 'hang', shutdown });
      const stuck = watch(h.run('a', 's', { code: 'stuck', timeoutMs: 100 }));
      const next = watch(h.run('b', 's', { code: 'next' }));
      await vi.advanceTimersByTimeAsync(100);
      expect(await stuck.promise).toMatchObject({ cancelled: true, exitCode: undefined });
      expect(h.pool.sessions()).toMatchObject([{ state: { kind: 'busy' } }]);
      return { h, next };
    };

    it('holds the session, not the caller; for a limit of the run it is stopped after 5 s, and the queue goes on', async () => {
      const { h, next } = await stuckRun('confirm');
      await vi.advanceTimersByTimeAsync(4_999);
      expect(h.kernels.at(0).sd).toBe(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(h.kernels.at(0).shutdowns).toEqual([undefined]);
      h.kernels.at(1).finish();
      expect((await next.promise).output).toMatch(/New kernel.*passed its limit/);
      expect(h.kernels.at(1).codes).toEqual(['next']);
    });

    it('has a single attempt in flight, which a disposal joins', async () => {
      const { h, next } = await stuckRun('hang');
      await vi.advanceTimersByTimeAsync(5_000);
      void h.pool.disposeOwner('a');
      void h.pool.disposeOwner('b');
      const all = watch(h.pool.disposeAll());
      await vi.advanceTimersByTimeAsync(10_000);
      expect(h.kernels.at(0).sd).toBe(1);
      h.kernels.at(0).confirm();
      await settle();
      expect(all.state).toBe('resolved');
      expect(h.pool.sessions()).toEqual([]);
      expect(await next.promise).toMatchObject({ cancelled: true });
    });

    it('goes on being stopped without an owner where its stop is not confirmed, and the queue goes on elsewhere', async () => {
      const { h, next } = await stuckRun('unconfirmed');
      await vi.advanceTimersByTimeAsync(5_000);
      expect(h.pool.sessions()).toMatchObject([
        {
          state: { kind: 'stopUnconfirmed', attempt: 1 },
          owners: [{ kind: 'departed' }, { kind: 'departed' }],
        },
        { state: { kind: 'busy' }, owners: [{ id: 'a' }, { id: 'b' }] },
      ]);
      h.kernels.at(1).finish();
      expect(await next.promise).toMatchObject({ exitCode: 0 });
      await vi.advanceTimersByTimeAsync(30_000);
      expect(h.kernels.at(0).sd).toBe(2);
    });

    it('is left to a person where the caller gave up, and not the run’s own limit', async () => {
      const h = harness({ execute: 'hang' });
      const abort = new AbortController();
      const run = watch(h.run('a', 's', { signal: abort.signal }));
      await settle();
      abort.abort();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(run.state).toBe('resolved');
      expect(h.kernels.at(0).sd).toBe(0);
      expect(h.pool.sessions()).toMatchObject([{ state: { kind: 'busy' } }]);
    });
  });

  const withKill = (confirmed: boolean): { h: Harness; kills: number[] } => {
    const kills: number[] = [];
    const h = harness({
      execute: 'hang',
      prepare: (kernel) => {
        kernel.kill = () => {
          kills.push(Date.now());
          if (confirmed) kernel.alive = false;
          return Promise.resolve({ confirmed });
        };
      },
    });
    return { h, kills };
  };

  it('a limit of the run that is not heeded within 5 s kills the kernel, and says so', async () => {
    const { h, kills } = withKill(true);
    const start = Date.now();
    const run = watch(h.run('a', 's', { timeoutMs: 1_000 }));
    await vi.advanceTimersByTimeAsync(5_999);
    expect(run.state).toBe('pending');
    expect(kills).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(kills).toEqual([start + 6_000]);
    const result = await run.promise;
    expect(result).toMatchObject({ cancelled: true, exitCode: undefined });
    expect(result.output).toMatch(/^Timed out after 1 second; .* killed/);
    expect(h.pool.sessions()).toMatchObject([{ state: { kind: 'dead' } }]);
    h.kernels.prepare = (kernel) => {
      kernel.executePlan = 'ok';
    };
    expect(await h.run('b', 's')).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(2);
  });

  it('an abort that is not heeded kills nothing, and is shown', async () => {
    const { h, kills } = withKill(true);
    const abort = new AbortController();
    const run = watch(h.run('a', 's', { signal: abort.signal }));
    await settle();
    abort.abort();
    await vi.advanceTimersByTimeAsync(4_999);
    expect(run.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(await run.promise).toMatchObject({ cancelled: true, output: '' });
    expect(kills).toEqual([]);
    expect(h.pool.sessions()[0]?.state).toMatchObject({
      kind: 'busy',
      execution: { unheeded: true },
    });
  });

  it('a kernel that could not be killed does not hold the caller', async () => {
    const { h } = withKill(false);
    const run = watch(h.run('a', 's', { timeoutMs: 1_000 }));
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await run.promise).toMatchObject({ output: 'Timed out after 1 second.' });
    expect(h.pool.sessions()).toMatchObject([
      { state: { kind: 'stopUnconfirmed' }, owners: [{ kind: 'departed' }] },
      { state: { kind: 'idle' }, owners: [{ id: 'a' }] },
    ]);
  });

  it('a reply that tells of a kill is told on', async () => {
    const h = harness({ execute: 'hang' });
    const run = watch(h.run('a', 's', { timeoutMs: 1_000 }));
    await settle();
    const { signal } = h.kernels.at(0).executions[0]!.options;
    signal.addEventListener('abort', () =>
      h.kernels.at(0).finish({ ...interruptedReply, timedOut: true, killed: true }),
    );
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await run.promise).output).toMatch(/killed/);
  });

  it('a run that was done before its interrupt arrived is done', async () => {
    const { h } = withKill(true);
    const run = watch(h.run('a', 's', { timeoutMs: 1_000 }));
    await vi.advanceTimersByTimeAsync(1_000);
    h.kernels.at(0).finish();
    expect(await run.promise).toMatchObject({ exitCode: 0, cancelled: false });
  });

  it('failures that are not cancellations reject, and the session goes on', async () => {
    const h = harness({ execute: 'hang' });
    const run = watch(h.run('a', 's'));
    const next = watch(h.run('a', 's'));
    await settle();
    h.kernels.at(0).unanswered[0]?.reply.reject(new Error('protocol'));
    await expect(run.promise).rejects.toThrow('protocol');
    await settle();
    h.kernels.at(0).executions[1]?.reply.resolve(okReply);
    expect(await next.promise).toMatchObject({ exitCode: 0 });
  });
});

describe('A11 results', () => {
  it.each([
    ['ok', okReply, { exitCode: 0, cancelled: false, stdinRequested: false, output: '' }],
    ['an error', { ...okReply, status: 'error' as const }, { exitCode: 1, cancelled: false }],
    [
      'input asked for',
      { ...okReply, status: 'error' as const, stdinRequested: true },
      {
        exitCode: 1,
        cancelled: false,
        stdinRequested: true,
        output: expect.stringMatching(/asked for input, and nobody can answer/) as string,
      },
    ],
    ['an interrupt', interruptedReply, { exitCode: undefined, cancelled: true, output: '' }],
    [
      'a timeout of the kernel’s own',
      { ...interruptedReply, timedOut: true },
      { exitCode: undefined, cancelled: true, output: 'Timed out after 1 second.' },
    ],
  ])('%s', async (_, reply, result) => {
    const h = harness({ execute: 'hang' });
    const run = watch(h.run('a', 's'));
    await settle();
    h.kernels.at(0).finish(reply);
    expect(await run.promise).toMatchObject(result);
  });

  it('passes output on in order and as the kernel gives it; a bare string counts as stdout', async () => {
    const h = harness({ execute: 'hang' });
    const seen: (KernelOutput | string)[] = [];
    const run = watch(h.pool.execute('x', { cwd: '/w', onOutput: (output) => seen.push(output) }));
    await settle();
    say(h.kernels.at(0), 'out\n');
    const display: KernelOutput = { type: 'display', data: { 'image/png': 'AA==' } };
    say(h.kernels.at(0), display);
    expect(seen).toEqual(['out\n', display]);
    h.kernels.at(0).finish();
    expect(await run.promise).toMatchObject({
      output: 'out\n',
      totalLines: 1,
      displayOutputs: [{ data: { 'image/png': 'AA==' } }],
    });
  });

  it('output after the answer is late, and never lost', async () => {
    const h = harness({ execute: 'hang' });
    const late: unknown[] = [];
    h.pool.onDidLateOutput((fact) => late.push(fact));
    const run = watch(
      h.pool.execute('x', { cwd: '/w', sessionId: 's', executionId: 'e', timeoutMs: 10 }),
    );
    await vi.advanceTimersByTimeAsync(10);
    await run.promise;
    say(h.kernels.at(0), 'still here');
    expect(late).toEqual([
      {
        id: 'session-1',
        executionId: 'e',
        output: { type: 'stream', name: 'stdout', text: 'still here' },
      },
    ]);
  });

  it('a listener that throws does not disturb the run', async () => {
    const h = harness({ execute: 'hang' });
    const run = watch(
      h.pool.execute('x', {
        cwd: '/w',
        onOutput: () => {
          throw new Error('view');
        },
      }),
    );
    await settle();
    say(h.kernels.at(0), 'a');
    h.kernels.at(0).finish();
    expect(await run.promise).toMatchObject({ output: 'a', exitCode: 0 });
  });
});

describe('A7 dead kernels', () => {
  it('a kernel that dies under a run settles it and every queued one; the next run gets a new kernel', async () => {
    const h = harness({ execute: 'hang' });
    const runs = ['1', '2', '3', '4'].map((code) => watch(h.run('a', 's', { code })));
    await settle();
    say(h.kernels.at(0), 'partial');
    Object.assign(h.kernels.at(0), {
      exit: {
        code: null,
        signal: 'SIGKILL',
        stderrTail: '',
        summary: 'Ended by SIGKILL.',
      } satisfies KernelExit,
    });
    h.kernels.at(0).die();
    const [first, ...queued] = await Promise.all(runs.map(({ promise }) => promise));
    expect(first).toMatchObject({ cancelled: true, exitCode: undefined });
    expect(first?.output).toMatch(/^partial\nEnded by SIGKILL\. .*uncertain/);
    for (const result of queued) {
      expect(result).toMatchObject({ cancelled: true, output: 'Not run: Ended by SIGKILL.' });
    }
    expect(h.kernels.at(0).codes).toEqual(['1']);
    h.kernels.prepare = () => {};
    expect(await h.run('b', 's')).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(2);
    expect(h.kernels.at(0).shutdowns).toEqual([undefined]);
  });

  it('one that died without a word under a run that never settles does not hold the line', async () => {
    const h = harness({ execute: 'hang' });
    const running = watch(h.run('a', 's', { code: '1' }));
    await settle();
    h.kernels.at(0).alive = false;
    h.kernels.prepare = () => {};
    expect(await h.run('b', 's', { code: '2' })).toMatchObject({ exitCode: 0 });
    expect((await running.promise).output).toMatch(/uncertain/);
    expect(h.kernels.all.map(({ codes }) => codes)).toEqual([['1'], ['2']]);
  });

  describe('one that is dead on arrival', () => {
    const deadOnArrival = (howMany: number): Harness =>
      harness({ prepare: (kernel, index) => void (kernel.alive = index >= howMany) });

    it('is replaced before anything is sent to it', async () => {
      const h = deadOnArrival(1);
      expect(await h.run('a', 's', { code: '1' })).toMatchObject({ exitCode: 0 });
      expect(h.kernels.all.map(({ codes }) => codes)).toEqual([[], ['1']]);
    });

    it('twice in a row fails whoever waits, and starts nothing before the next call', async () => {
      const h = deadOnArrival(2);
      const calls = ['1', '2'].map((code) => h.run('a', 's', { code }));
      for (const { status, reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[])
        expect([status, reason]).toMatchObject(['rejected', { code: 'kernel_died' }]);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(h.kernels.starts).toBe(2);
      expect(h.pool.sessions()).toMatchObject([{ state: { kind: 'dead' } }]);
      expect(await h.run('a', 's', { code: '3' })).toMatchObject({ exitCode: 0 });
      expect(h.kernels.starts).toBe(3);
    });

    it('is no warm session', async () => {
      expect(await deadOnArrival(9).pool.warm({ cwd: '/w' })).toMatchObject({ ok: false });
      const h = deadOnArrival(1);
      expect(await h.pool.warm({ cwd: '/w' })).toMatchObject({ ok: true });
      expect(h.kernels.starts).toBe(2);
    });
  });

  it.each(['confirm', 'unconfirmed', { reject: new Error('gone') }] as const)(
    'the stop of a dead one (%j) does not block its replacement',
    async (plan) => {
      const h = harness();
      await h.run('a', 's');
      h.kernels.at(0).alive = false;
      h.kernels.at(0).shutdownPlan = plan;
      expect(await h.run('a', 's', { timeoutMs: 500 })).toMatchObject({ exitCode: 0 });
      expect(h.kernels.at(0).shutdowns).toEqual([{ timeoutMs: 500 }]);
      expect(h.kernels.starts).toBe(2);
      expect(h.pool.capacity().counted).toBe(1);
    },
  );

  it.each(['TimeoutError', 'AbortError'])(
    'a %s of the stop under a deadline counts as the timeout, also ahead of it',
    async (name) => {
      const h = harness();
      await h.run('a', 's');
      h.kernels.at(0).alive = false;
      h.kernels.at(0).shutdownPlan = { reject: new DOMException('late', name), afterMs: 50 };
      const run = watch(h.run('a', 's', { timeoutMs: 2_000 }));
      await vi.advanceTimersByTimeAsync(50);
      expect(run.state).toBe('resolved');
      expect((await run.promise).output).toBe('Timed out after 2 seconds, before it ran.');
      expect(h.kernels.starts).toBe(1);
    },
  );

  it('the same without a deadline does not block the replacement', async () => {
    const h = harness();
    await h.run('a', 's');
    h.kernels.at(0).alive = false;
    h.kernels.at(0).shutdownPlan = { reject: new DOMException('late', 'TimeoutError') };
    expect(await h.run('a', 's')).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(2);
  });

  it('callers share one replacement, each under its own limits', async () => {
    const h = harness();
    await h.run('a', 's');
    h.kernels.at(0).alive = false;
    h.kernels.at(0).shutdownPlan = 'hang';
    const short = watch(h.run('a', 's', { code: 'short', timeoutMs: 100 }));
    const long = watch(h.run('a', 's', { code: 'long' }));
    await vi.advanceTimersByTimeAsync(100);
    expect(await short.promise).toMatchObject({ cancelled: true });
    expect(long.state).toBe('pending');
    h.kernels.at(0).confirm();
    expect(await long.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(2);
    expect(h.kernels.at(0).sd).toBe(1);
    expect(h.kernels.at(1).codes).toEqual(['long']);
  });

  it('after a claim during the replacement the new kernel is shut down and the call cancelled', async () => {
    const h = harness();
    await h.run('a', 's');
    h.kernels.at(0).alive = false;
    let release = (): void => {};
    h.kernels.prepare = () => new Promise<void>((resolve) => (release = resolve));
    const run = watch(h.run('a', 's'));
    await settle();
    expect(h.kernels.starts).toBe(2);
    const disposed = watch(h.pool.disposeOwner('a'));
    expect(await run.promise).toMatchObject({ cancelled: true, output: '' });
    release();
    await disposed.promise;
    expect(h.kernels.at(1)).toMatchObject({ codes: [], shutdowns: [{ timeoutMs: 2000 }] });
    expect(h.pool.sessions()).toEqual([]);
  });
});
