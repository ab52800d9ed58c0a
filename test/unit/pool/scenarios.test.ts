import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PreludeHelper } from '../../../src/kernel/kernel';
import { harness, settle, watch, type Harness } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sd = ({ kernels }: Harness): number[] => kernels.all.map((kernel) => kernel.sd);
const executes = ({ kernels }: Harness): number[] => kernels.all.map((k) => k.executions.length);

describe('sharing', () => {
  it('S1: two owners share a session, which stops with the last', async () => {
    const h = harness();
    await h.run('a', 's');
    await h.run('b', 's');
    expect(h.kernels.starts).toBe(1);
    expect(executes(h)).toEqual([2]);
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([0]);
    await h.run('b', 's');
    expect(h.kernels.starts).toBe(1);
    expect(executes(h)).toEqual([3]);
    await h.pool.disposeOwner('b');
    expect(sd(h)).toEqual([1]);
  });

  it('S2: an owner takes its own sessions with it, and nobody else’s', async () => {
    const h = harness();
    await h.run('a', 's', { cwd: '/one' });
    await h.run('a', undefined, { cwd: '/two' });
    await h.run('b', 't', { cwd: '/three' });
    expect(h.kernels.starts).toBe(3);
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([1, 1, 0]);
    await h.run('b', 't', { cwd: '/three' });
    expect(h.kernels.starts).toBe(3);
  });

  it('S3: without an owner the session id is the owner', async () => {
    const h = harness();
    await h.run(undefined, 'X');
    await h.pool.disposeOwner('X');
    expect(sd(h)).toEqual([1]);
  });

  it('S4: a claimed session is not attached; the key gets a new kernel', async () => {
    const h = harness({
      prepare: (kernel, index) => void (index === 0 && (kernel.shutdownPlan = 'hang')),
    });
    await h.run('a', 's');
    const disposed = watch(h.pool.disposeOwner('a'));
    await h.run('b', 's');
    expect(h.kernels.starts).toBe(2);
    expect(executes(h)).toEqual([1, 1]);
    expect(sd(h)).toEqual([1, 0]);
    expect(disposed.state).toBe('pending');
    h.kernels.at(0).confirm();
    await disposed.promise;
    await h.pool.disposeOwner('b');
    expect(sd(h)).toEqual([1, 1]);
  });

  it('S5: a per-call kernel is nobody’s to dispose', async () => {
    const h = harness();
    await h.run('a', 's', { mode: 'per-call' });
    await h.run('a', 's');
    await h.run(undefined, 't');
    expect(h.kernels.starts).toBe(3);
    expect(sd(h)).toEqual([1, 0, 0]);
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([1, 1, 0]);
    await h.pool.disposeAll();
    expect(sd(h)).toEqual([1, 1, 1]);
  });

  const helper: PreludeHelper = { name: 'f', signature: '(x)', docstring: 'Does.', category: '' };
  const withPrelude = (): { h: Harness; introspections: () => number } => {
    let introspections = 0;
    const h = harness({
      prepare: (kernel) => {
        kernel.introspectPrelude = () => {
          introspections++;
          return Promise.resolve([helper]);
        };
      },
    });
    return { h, introspections: () => introspections };
  };

  it('S6: two owners warm one session with one introspection', async () => {
    const { h, introspections } = withPrelude();
    const warm = (ownerId: string) => h.pool.warm({ cwd: '/w', sessionId: 's', ownerId });
    expect(await warm('a')).toEqual({ ok: true, docs: [helper] });
    expect(introspections()).toBe(1);
    expect(await warm('b')).toEqual({ ok: true, docs: [helper] });
    expect(introspections()).toBe(1);
    expect(h.kernels.starts).toBe(1);
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([0]);
    await h.run('b', 's');
    expect(h.kernels.starts).toBe(1);
    await h.pool.disposeOwner('b');
    expect(sd(h)).toEqual([1]);
  });

  it('S7: an ownerless warm-up is provisional', async () => {
    const { h, introspections } = withPrelude();
    const warm = () => h.pool.warm({ cwd: '/w', sessionId: 's' });
    await Promise.all([warm(), warm()]);
    expect(introspections()).toBe(1);
    expect(h.kernels.starts).toBe(1);
    await h.run('a', 's');
    await warm();
    expect(introspections()).toBe(1);
    expect(h.kernels.starts).toBe(1);
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([1]);
    await h.pool.disposeOwner('s');
    expect(sd(h)).toEqual([1]);
  });
});

describe('trouble', () => {
  it('S8: the time of a dead kernel’s stop is the caller’s, and nothing starts after it', async () => {
    const timeout = new DOMException('too slow', 'TimeoutError');
    const h = harness({
      prepare: (kernel, index) => {
        if (index > 0) return;
        kernel.alive = false;
        kernel.shutdownPlans = [{ reject: timeout, afterMs: 100 }];
      },
    });
    const run = watch(h.run('a', 's', { timeoutMs: 100 }));
    await vi.advanceTimersByTimeAsync(100);
    expect(run.state).toBe('resolved');
    expect(await run.promise).toMatchObject({ cancelled: true, exitCode: undefined });
    expect(h.kernels.at(0).shutdowns).toEqual([{ timeoutMs: 100 }]);
    expect(h.kernels.starts).toBe(1);
    expect(h.kernels.at(0).codes).toEqual([]);
    expect(await h.run('a', 's')).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(2);
  });

  it('S9: disposal never waits for running executions', async () => {
    const h = harness({ execute: 'hang' });
    const mine = watch(h.run('a', 's'));
    const other = watch(h.run(undefined, 't'));
    await settle();
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([1, 0]);
    expect(await mine.promise).toMatchObject({ cancelled: true, exitCode: undefined });
    expect(other.state).toBe('pending');
    await h.pool.disposeAll();
    expect(sd(h)).toEqual([1, 1]);
    expect(await other.promise).toMatchObject({ cancelled: true, exitCode: undefined });
  });

  it('S10: after a global disposal without confirmation the session is there again', async () => {
    const h = harness({ shutdown: 'unconfirmed' });
    await h.run(undefined, 's');
    await h.pool.disposeAll();
    expect(sd(h)).toEqual([1]);
    await h.run(undefined, 's');
    expect(h.kernels.starts).toBe(1);
    expect(executes(h)).toEqual([2]);
    h.kernels.at(0).confirm();
    await h.pool.disposeAll();
    expect(h.kernels.at(0).shutdowns).toEqual([undefined, undefined]);
    expect(h.pool.sessions()).toEqual([]);
  });

  it('S11: with room in the pool a failed stop is not repeated until it is asked for again', async () => {
    const h = harness({ shutdown: 'unconfirmed' });
    await h.run('a', 's');
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([1]);
    h.kernels.at(0).confirm();
    await h.pool.disposeOwner('a');
    expect(h.kernels.at(0).shutdowns).toEqual([{ timeoutMs: 2000 }, { timeoutMs: 2000 }]);
    expect(h.pool.sessions()).toEqual([]);
  });
});

describe('capacity', () => {
  const owners4 = ['a', 'b', 'c', 'd'];

  it('S12: hanging stops keep their slots; each that confirms lets one in', async () => {
    const h = harness({ shutdown: 'hang' });
    for (const session of owners4) await h.run(undefined, session);
    const all = watch(h.pool.disposeAll());
    const fifth = watch(h.run(undefined, 'e'));
    await settle();
    expect(h.kernels.starts).toBe(4);
    expect(fifth.state).toBe('pending');
    h.kernels.at(0).confirm();
    expect(await fifth.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(5);
    expect(executes(h)).toEqual([1, 1, 1, 1, 1]);
    expect(all.state).toBe('pending');
    for (const kernel of h.kernels.all.slice(1, 4)) kernel.confirm();
    await all.promise;
    expect(sd(h)).toEqual([1, 1, 1, 1, 0]);
  });

  it('S13: an owner’s clean-up ends at its limit, to the millisecond', async () => {
    const h = harness({ shutdown: 'hang' });
    for (const session of owners4) await h.run('a', session);
    const cleanUp = watch(h.pool.disposeOwner('a'));
    for (const kernel of h.kernels.all) expect(kernel.shutdowns).toEqual([{ timeoutMs: 2000 }]);
    await vi.advanceTimersByTimeAsync(1999);
    expect(cleanUp.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(cleanUp.state).toBe('resolved');
    const run = watch(h.run('b', 'e'));
    await settle();
    expect(h.kernels.starts).toBe(4);
    expect(run.state).toBe('pending');
    h.kernels.at(2).confirm();
    expect(await run.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(5);
    expect(executes(h)).toEqual([1, 1, 1, 1, 1]);
    expect(sd(h)).toEqual([1, 1, 1, 1, 0]);
  });

  /** Owners a to d fill the pool, and a's stop fails twice as planned. */
  const full = async (second: 'unconfirmed' | 'hang'): Promise<Harness> => {
    const h = harness({
      prepare: (kernel, index) => {
        if (index === 0) kernel.shutdownPlans = ['unconfirmed', second, 'hang'];
      },
    });
    for (const owner of owners4) await h.run(owner, owner);
    await h.pool.disposeOwner('a');
    return h;
  };

  it('S14: after a failed attempt without a limit only time starts the next', async () => {
    const h = await full('unconfirmed');
    expect(h.kernels.at(0).shutdowns).toEqual([{ timeoutMs: 2000 }, undefined]);
    const run = watch(h.run('e', 'e'));
    await settle();
    expect(run.state).toBe('pending');
    expect(h.kernels.starts).toBe(4);
    await vi.advanceTimersByTimeAsync(29_999);
    expect(sd(h)).toEqual([2, 0, 0, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(h.kernels.at(0).shutdowns).toEqual([{ timeoutMs: 2000 }, undefined, undefined]);
    expect(run.state).toBe('pending');
    h.kernels.at(0).confirm();
    expect(await run.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(5);
    expect(sd(h)).toEqual([3, 0, 0, 0, 0]);
  });

  it('S15: whoever waits for a slot holds nobody up', async () => {
    const h = await full('hang');
    const run = watch(h.run('e', 'e'));
    for (const owner of ['b', 'c', 'd']) await h.run(owner, owner);
    expect(executes(h)).toEqual([1, 2, 2, 2]);
    expect(sd(h)).toEqual([2, 0, 0, 0]);
    expect(run.state).toBe('pending');
    h.kernels.at(0).confirm();
    expect(await run.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(5);
  });

  it('S16: a global disposal joins what is in flight, and outlasts those who come after', async () => {
    const h = harness({
      prepare: (kernel, index) => {
        if (index < 4) kernel.shutdownPlans = ['unconfirmed', 'hang'];
      },
    });
    for (const session of owners4) await h.run('a', session);
    await h.pool.disposeOwner('a');
    expect(sd(h)).toEqual([2, 2, 2, 2]);
    const all = watch(h.pool.disposeAll());
    await settle();
    expect(sd(h)).toEqual([2, 2, 2, 2]);
    const b = watch(h.run('b', 'e'));
    await settle();
    expect(b.state).toBe('pending');
    h.kernels.at(0).confirm();
    await b.promise;
    expect(all.state).toBe('pending');
    const c = watch(h.run('c', 'f'));
    await settle();
    expect(c.state).toBe('pending');
    h.kernels.at(1).confirm();
    await c.promise;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(all.state).toBe('pending');
    h.kernels.at(2).confirm();
    h.kernels.at(3).confirm();
    await all.promise;
    expect(sd(h)).toEqual([2, 2, 2, 2, 0, 0]);
  });

  it('S17: a start out of resources is recovered once, at the cost of what drains', async () => {
    let recoveries = 0;
    const h = harness({
      recoverResources: () => {
        recoveries++;
        return Promise.resolve();
      },
      prepare: (kernel, index) => {
        if (index < 3) kernel.shutdownPlan = 'hang';
        if (index === 3) throw Object.assign(new Error('spawn'), { code: 'EMFILE' });
      },
    });
    for (const session of ['a', 'b', 'c']) await h.run('a', session);
    const cleanUp = watch(h.pool.disposeOwner('a'));
    await vi.advanceTimersByTimeAsync(1999);
    expect(cleanUp.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(cleanUp.state).toBe('resolved');
    expect(await h.run('b', 'd')).toMatchObject({ exitCode: 0 });
    expect(recoveries).toBe(1);
    expect(h.kernels.starts).toBe(5);
    expect(executes(h)).toEqual([1, 1, 1, 1]);
    expect(h.pool.sessions()).toHaveLength(1);
    const further = watch(h.run('c', 'e', { timeoutMs: 50 }));
    await settle();
    expect(further.state).toBe('resolved');
    expect(await further.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(6);
    expect(h.kernels.at(3).sd).toBe(0);
    expect(recoveries).toBe(1);
  });

  it('S18: ten first runs of one key start one kernel; ten of ten keys never count more than four', async () => {
    const one = harness();
    await Promise.all(Array.from({ length: 10 }, (_, at) => one.run(`owner ${at}`, 's')));
    expect(one.kernels.starts).toBe(1);
    expect(executes(one)).toEqual([10]);

    const ten = harness();
    let most = 0;
    const alive = () => ten.kernels.all.filter((kernel) => kernel.alive).length;
    ten.pool.onDidChangeSessions(() => {
      most = Math.max(most, ten.pool.sessions().length, alive());
    });
    await Promise.all(Array.from({ length: 10 }, (_, at) => ten.run('a', `s ${at}`)));
    expect(most).toBe(4);
    expect(ten.kernels.starts).toBe(10);
    expect(executes(ten)).toEqual(Array.from({ length: 10 }, () => 1));
  });

  it('S19: a pool of one lets the running one finish, and then evicts it', async () => {
    const h = harness({ capacity: 1, execute: 'hang' });
    const a = watch(h.run('a', 's'));
    await settle();
    const b = watch(h.run('b', 't'));
    await settle();
    expect(h.kernels.starts).toBe(1);
    expect(sd(h)).toEqual([0]);
    h.kernels.at(0).finish();
    expect(await a.promise).toMatchObject({ exitCode: 0 });
    await settle();
    expect(h.kernels.at(0).shutdowns).toEqual([undefined]);
    h.kernels.at(1).finish();
    expect(await b.promise).toMatchObject({ exitCode: 0 });
  });

  it('S20: a key taken again is shown and counted beside what still drains', async () => {
    const h = harness({
      capacity: 2,
      prepare: (kernel, index) => void (index === 0 && (kernel.shutdownPlan = 'hang')),
    });
    await h.run('a', 's');
    void h.pool.disposeOwner('a');
    await h.run('b', 's');
    h.kernels.at(0).leaveUnconfirmed();
    await settle();
    expect(h.pool.capacity().counted).toBe(2);
    expect(h.pool.sessions()).toMatchObject([
      {
        id: 'session-1',
        sessionId: 's',
        state: { kind: 'stopping' },
        owners: [{ id: 'a', kind: 'departed' }],
      },
      {
        id: 'session-2',
        sessionId: 's',
        state: { kind: 'idle' },
        owners: [{ id: 'b', kind: 'explicit' }],
      },
    ]);
    const c = watch(h.run('c', 'other'));
    await settle();
    expect(c.state).toBe('pending');
    expect(h.kernels.starts).toBe(2);
  });
});
