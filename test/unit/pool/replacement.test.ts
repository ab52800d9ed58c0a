import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { harness, settle, watch, type Harness } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sd = ({ kernels }: Harness): number[] => kernels.all.map((kernel) => kernel.sd);
const codes = ({ kernels }: Harness): unknown[] => kernels.all.map((kernel) => kernel.codes);

describe('A8 reset', () => {
  it('by the only owner: waits for the old exit, then starts fresh', async () => {
    const h = harness({ shutdown: 'hang' });
    await h.run('a', 's', { code: '1' });
    const reset = watch(h.run('a', 's', { code: '2', reset: true }));
    const other = watch(h.run('a', 's', { code: '3' }));
    await settle();
    expect(h.kernels.at(0).shutdowns).toEqual([undefined]);
    expect(h.kernels.starts).toBe(1);
    h.kernels.at(0).confirm();
    await Promise.all([reset.promise, other.promise]);
    expect(codes(h)).toEqual([['1'], ['2', '3']]);
    expect(h.pool.sessions()).toMatchObject([{ id: 'session-1', incarnation: 2 }]);
  });

  it('concurrent resets coalesce; a later one resets again', async () => {
    const h = harness();
    await h.run('a', 's', { code: '1' });
    await Promise.all(['2', '3'].map((code) => h.run('a', 's', { code, reset: true })));
    expect(codes(h)).toEqual([['1'], ['2', '3']]);
    await h.run('a', 's', { code: '4', reset: true });
    expect(codes(h)).toEqual([['1'], ['2', '3'], ['4']]);
  });

  it('waits its turn: what was asked for before runs to its end', async () => {
    const h = harness({ execute: 'hang' });
    const first = watch(h.run('a', 's', { code: '1' }));
    await settle();
    void h.run('a', 's', { code: '2', reset: true });
    await settle();
    expect(sd(h)).toEqual([0]);
    h.kernels.at(0).finish();
    expect(await first.promise).toMatchObject({ exitCode: 0 });
    await settle();
    expect(codes(h)).toEqual([['1'], ['2']]);
  });

  it('a first call with reset just starts', async () => {
    const h = harness();
    await h.run('a', 's', { reset: true });
    expect([h.kernels.starts, sd(h)]).toEqual([1, [0]]);
  });

  it('of a shared session gives a private one, used from then on, and reaped with its owner', async () => {
    const h = harness();
    await h.run('a', 's', { code: 'a1' });
    await h.run('b', 's', { code: 'b1' });
    await h.run('a', 's', { code: 'a2', reset: true });
    await h.run('a', 's', { code: 'a3' });
    await h.run('b', 's', { code: 'b2' });
    expect(codes(h)).toEqual([
      ['a1', 'b1', 'b2'],
      ['a2', 'a3'],
    ]);
    expect(h.pool.sessions()).toMatchObject([
      { sessionId: 's', owners: [{ id: 'b' }] },
      { sessionId: 's', owners: [{ id: 'a' }], privateTo: 'a' },
    ]);
    expect(h.pool.sessions()[0]).not.toHaveProperty('privateTo');
    await h.run('a', 's', { code: 'a4', reset: true });
    expect(codes(h)).toEqual([['a1', 'b1', 'b2'], ['a2', 'a3'], ['a4']]);
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([0, 1, 1]);
    await h.run('a', 's', { code: 'a5' });
    expect(h.kernels.at(0).codes).toEqual(['a1', 'b1', 'b2', 'a5']);
  });

  it('by somebody who never held it leaves the session to its owner', async () => {
    const h = harness();
    await h.run('a', 's');
    await h.run(undefined, 's', { reset: true });
    await h.run(undefined, 's');
    expect(h.kernels.all.map(({ executions }) => executions.length)).toEqual([1, 2]);
    expect(h.pool.sessions()[0]?.owners).toEqual([{ id: 'a', kind: 'explicit' }]);
    await h.pool.disposeOwner('s');
    expect(sd(h)).toEqual([0, 1]);
  });

  it('with an old kernel that stays, takes a slot of its own, and both are shown', async () => {
    const h = harness({ shutdown: 'unconfirmed' });
    await h.run('a', 's', { code: '1' });
    await h.run('a', 's', { code: '2', reset: true });
    expect(codes(h)).toEqual([['1'], ['2']]);
    expect(h.pool.sessions()).toMatchObject([
      {
        state: { kind: 'stopUnconfirmed', place: 'ownName' },
        owners: [{ id: 'a', kind: 'departed' }],
      },
      { state: { kind: 'idle' }, owners: [{ id: 'a', kind: 'explicit' }] },
    ]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(sd(h)).toEqual([2, 0]);
  });

  it('with an old kernel that stays and no slot, says why it can’t; others wait', async () => {
    const h = harness({ capacity: 1, shutdown: 'unconfirmed' });
    await h.run('a', 's');
    const reset = watch(h.run('a', 's', { reset: true }));
    const other = watch(h.run('a', 's'));
    await expect(reset.promise).rejects.toMatchObject({ code: 'pool_full' });
    expect(other.state).toBe('pending');
    h.kernels.at(0).confirm();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await other.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(2);
  });
});

describe('what a person does', () => {
  const id = 'session-1';

  it('restart: queued runs are cancelled, owners stay, the new kernel comes after the old exit', async () => {
    const h = harness({ execute: 'hang', shutdown: 'hang' });
    const running = watch(h.run('a', 's'));
    const queued = watch(h.run('b', 's'));
    await settle();
    const restarted = watch(h.pool.restart(id));
    expect(await queued.promise).toMatchObject({ cancelled: true });
    expect(h.kernels.at(0).shutdowns).toEqual([undefined]);
    await settle();
    expect([h.kernels.starts, running.state, restarted.state]).toEqual([1, 'pending', 'pending']);
    h.kernels.at(0).confirm();
    await restarted.promise;
    expect((await running.promise).output).toMatch(/restarted by a person.*uncertain/);
    expect(h.kernels.starts).toBe(2);
    expect(h.pool.sessions()).toMatchObject([
      { id, incarnation: 2, state: { kind: 'idle' }, owners: [{ id: 'a' }, { id: 'b' }] },
    ]);
  });

  it('a session tells when the start of the kernel that is there began, not of the one before', async () => {
    const h = harness();
    await h.run('a', 's');
    const first = Date.now();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(h.pool.sessions()).toMatchObject([{ startedAt: first }]);
    await h.pool.restart(id);
    expect(h.pool.sessions()).toMatchObject([{ startedAt: first + 120_000 }]);
  });

  it('restart: asked for twice at once, both have what they want', async () => {
    const h = harness();
    await h.run('a', 's');
    const restarts = [h.pool.restart(id), h.pool.restart(id)];
    expect(h.pool.sessions()).toMatchObject([
      {
        state: { kind: 'stopping', startsAnew: true },
        queue: [{ isPreparation: true }, { isPreparation: true }],
      },
    ]);
    await Promise.all(restarts);
    expect([h.kernels.starts, sd(h)]).toEqual([2, [1, 0]]);
  });

  it('restart: rejects where the new kernel can’t start, or the old one keeps the only slot', async () => {
    const h = harness({ capacity: 1 });
    await h.run('a', 's');
    h.kernels.prepare = () => {
      throw new Error('no interpreter');
    };
    await expect(h.pool.restart(id)).rejects.toThrow('no interpreter');
    const full = harness({ capacity: 1, shutdown: 'unconfirmed' });
    await full.run('a', 's');
    await expect(full.pool.restart(id)).rejects.toMatchObject({ code: 'pool_full' });
    await expect(full.pool.restart(id)).rejects.toMatchObject({ code: 'bad_input' });
  });

  it('kill: at once, also beside an attempt that hangs; its evidence frees the slot', async () => {
    const h = harness({
      execute: 'hang',
      shutdown: 'hang',
      prepare: (kernel) => {
        kernel.kill = () => {
          kernel.alive = false;
          return Promise.resolve({ confirmed: true });
        };
      },
    });
    const run = watch(h.run('a', 's'));
    await settle();
    const cleanUp = watch(h.pool.disposeOwner('a'));
    expect(await h.pool.kill(id)).toEqual({ confirmed: true });
    await Promise.all([run.promise, cleanUp.promise]);
    expect(h.pool.sessions()).toEqual([]);

    void h.run('a', 's');
    const queued = watch(h.run('a', 's'));
    await settle();
    expect(await h.pool.kill('session-2')).toEqual({ confirmed: true });
    expect(await queued.promise).toMatchObject({ cancelled: true });
    expect(sd(h)).toEqual([1, 0]);
  });

  it('the late answer of an attempt that a kill overtook says nothing of the next kernel', async () => {
    const h = harness({
      shutdown: 'hang',
      prepare: (kernel) => {
        kernel.kill = () => {
          kernel.alive = false;
          return Promise.resolve({ confirmed: true });
        };
      },
    });
    await h.run('a', 's');
    const restarted = watch(h.pool.restart(id));
    await h.pool.kill(id);
    await restarted.promise;
    const cleanUp = watch(h.pool.disposeOwner('a'));
    h.kernels.at(0).confirm();
    await settle();
    expect(cleanUp.state).toBe('pending');
    expect(h.pool.capacity().counted).toBe(1);
    h.kernels.at(1).confirm();
    await cleanUp.promise;
    expect(h.pool.capacity().counted).toBe(0);
  });

  it('what an old kernel still was at frees nothing of the new one', async () => {
    let answer = (): void => {};
    const h = harness({
      execute: 'hang',
      prepare: (kernel, index) => {
        if (index > 0) return;
        kernel.introspectPrelude = () => new Promise((resolve) => (answer = () => resolve([])));
      },
    });
    const warm = watch(h.pool.warm({ cwd: '/w', sessionId: 's', ownerId: 'a' }));
    await settle();
    await h.pool.restart(id);
    expect(await warm.promise).toMatchObject({ ok: false });
    void h.run('a', 's', { code: 'first' });
    void h.run('a', 's', { code: 'second' });
    answer();
    await settle();
    expect(h.kernels.at(1).codes).toEqual(['first']);
  });

  it('kill without evidence: the record and its owners stay, and it is tried again', async () => {
    const h = harness({ shutdown: 'unconfirmed' });
    await h.run('a', 's');
    expect(await h.pool.kill(id)).toMatchObject({ confirmed: false });
    expect(h.pool.sessions()).toMatchObject([
      { state: { kind: 'stopUnconfirmed' }, owners: [{ id: 'a', kind: 'explicit' }] },
    ]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(sd(h)).toEqual([2]);
  });

  it('retry now does not wait for its time, and joins an attempt under way', async () => {
    const h = harness({ shutdown: 'unconfirmed' });
    await h.run('a', 's');
    await h.pool.disposeOwner('a');
    h.kernels.at(0).shutdownPlan = 'hang';
    const first = watch(h.pool.retryNow(id));
    const second = watch(h.pool.retryNow(id));
    await settle();
    expect(sd(h)).toEqual([2]);
    h.kernels.at(0).confirm();
    expect(await first.promise).toEqual({ confirmed: true });
    expect(await second.promise).toEqual({ confirmed: true });
  });

  it('retry now of a session that is in use again says so, and stops nothing', async () => {
    const h = harness({ shutdown: 'unconfirmed' });
    await h.run('a', 's');
    await h.pool.disposeOwner('a');
    await h.run('b', 's');
    await expect(h.pool.retryNow(id)).rejects.toMatchObject({ code: 'bad_input' });
    expect(sd(h)).toEqual([1]);
  });

  it('forget frees the slot of a kernel on its way out, and of no other', async () => {
    const h = harness({ capacity: 1, shutdown: 'hang' });
    await h.run('a', 's');
    await expect(h.pool.forget(id)).rejects.toMatchObject({ code: 'bad_input' });
    const cleanUp = watch(h.pool.disposeOwner('a'));
    const waiting = watch(h.run('b', 't'));
    await h.pool.forget(id);
    expect(await waiting.promise).toMatchObject({ exitCode: 0 });
    await cleanUp.promise;
    await expect(h.pool.forget(id)).rejects.toMatchObject({ code: 'kernel_not_found' });
  });

  it('release lets go for one owner of one session', async () => {
    const h = harness();
    await h.run('a', 's');
    await h.run('b', 's');
    await h.run('a', 't');
    await h.pool.releaseOwner(id, 'a');
    expect(sd(h)).toEqual([0, 0]);
    await h.pool.releaseOwner(id, 'b');
    expect(sd(h)).toEqual([1, 0]);
  });

  it('stop takes a session whoever holds it', async () => {
    const h = harness();
    await h.run('a', 's');
    expect(await h.pool.stop(id)).toEqual({ confirmed: true });
    expect(h.pool.sessions()).toEqual([]);
    expect((await h.run('a', 's')).output).toMatch(/stopped by a person/);
  });

  it('interrupt is bound to one run, and says what it could not do', async () => {
    const h = harness({ execute: 'heedAbort' });
    await expect(h.pool.interrupt('nobody')).rejects.toMatchObject({ code: 'kernel_not_found' });
    const first = watch(h.pool.execute('1', { cwd: '/w', executionId: 'one' }));
    const second = watch(h.pool.execute('2', { cwd: '/w', executionId: 'two' }));
    await settle();
    expect(await h.pool.interrupt(id, 'two')).toMatchObject({ delivered: false });
    expect(await h.pool.interrupt(id, 'one')).toMatchObject({ delivered: true });
    expect(await first.promise).toMatchObject({ cancelled: true, output: '' });
    await settle();
    expect(second.state).toBe('pending');
    expect(await h.pool.interrupt(id)).toMatchObject({ delivered: true });
    expect(await second.promise).toMatchObject({ cancelled: true });
    await settle();
    expect(await h.pool.interrupt(id)).toMatchObject({ delivered: false });
  });

  it('an interrupt of a person that is swallowed is shown after 5 s, each one anew, and kills nothing', async () => {
    const h = harness({
      execute: 'hang',
      prepare: (kernel) =>
        void Object.assign(kernel, {
          interrupt: () => Promise.resolve({ delivered: true, target: 'process group 1' }),
        }),
    });
    const run = watch(h.run('a', 's'));
    await settle();
    const execution = () => {
      const { state } = h.pool.sessions()[0]!;
      return state.kind === 'busy' ? state.execution : undefined;
    };
    await h.pool.interrupt(id);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(execution()).toMatchObject({ interruptedAt: expect.any(Number) as number });
    expect(execution()).not.toHaveProperty('unheeded');
    await vi.advanceTimersByTimeAsync(1);
    expect(execution()).toMatchObject({ unheeded: true });
    await h.pool.interrupt(id);
    expect(execution()).not.toHaveProperty('unheeded');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(execution()).toMatchObject({ unheeded: true });
    expect(run.state).toBe('pending');
    expect(h.kernels.at(0).sd).toBe(0);
    h.kernels.at(0).finish();
    expect(await run.promise).toMatchObject({ exitCode: 0 });
    expect(vi.getTimerCount()).toBe(1);
  });

  it('an interrupt cancels the rest of the queue where the settings say so', async () => {
    const h = harness({ execute: 'heedAbort', queueOnInterrupt: 'cancel' });
    const runs = [1, 2, 3].map(() => watch(h.run('a', 's')));
    const other = watch(h.run('b', 's'));
    await settle();
    await h.pool.interrupt(id);
    const results = await Promise.all(runs.map(({ promise }) => promise));
    expect(results.map(({ cancelled }) => cancelled)).toEqual([true, true, true]);
    expect(results[1]?.output).toBe('Not run: an earlier run was interrupted.');
    await settle();
    expect(other.state).toBe('pending');
    expect(h.kernels.at(0).executions).toHaveLength(2);
  });
});
