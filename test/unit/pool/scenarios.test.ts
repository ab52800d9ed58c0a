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
