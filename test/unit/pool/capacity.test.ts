import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionSnapshot, WaiterSnapshot } from '../../../src/pool/types';
import {
  harness,
  settle,
  watch,
  type Harness,
  type HarnessOptions,
} from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function filled(options: HarnessOptions, ...owners: string[]): Promise<Harness> {
  const h = harness({ capacity: owners.length, ...options });
  for (const owner of owners) await h.run(owner, owner);
  return h;
}

const sd = ({ kernels }: Harness): number[] => kernels.all.map((kernel) => kernel.sd);
const waiting = ({ pool }: Harness): string[] =>
  pool.capacity().waiting.map(({ sessionId }) => sessionId);

describe('B2.11 waiting for a slot', () => {
  it('is in order, one place per key, and says who waits', async () => {
    const h = await filled({ shutdown: 'hang' }, 'a', 'b');
    void h.pool.disposeAll();
    const c = watch(h.run('c', 'c'));
    const d = watch(h.run('d', 'd'));
    const c2 = watch(h.run('e', 'c'));
    await settle();
    expect(h.pool.capacity()).toMatchObject({
      capacity: 2,
      counted: 2,
      waiting: [
        {
          sessionId: 'c',
          owners: [{ id: 'c' }, { id: 'e' }],
          calls: [{ ownerId: 'c' }, { ownerId: 'e' }],
        },
        { sessionId: 'd', owners: [{ id: 'd' }] },
      ],
    });
    h.kernels.at(0).confirm();
    await Promise.all([c.promise, c2.promise]);
    expect(d.state).toBe('pending');
    h.kernels.at(1).confirm();
    await d.promise;
    expect(h.kernels.starts).toBe(4);
  });

  it('an abort or a deadline takes a place out of the line without using a slot', async () => {
    const h = await filled({ shutdown: 'hang' }, 'a');
    void h.pool.disposeAll();
    const abort = new AbortController();
    const aborted = watch(h.run('b', 'b', { signal: abort.signal }));
    const late = watch(h.run('c', 'c', { timeoutMs: 1_000 }));
    const last = watch(h.run('d', 'd'));
    abort.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await aborted.promise).toMatchObject({ cancelled: true, output: '' });
    expect((await late.promise).output).toBe(
      'Timed out after 1 second, waiting for a free kernel slot (1 of 1 held by kernels on their way out).',
    );
    expect(waiting(h)).toEqual(['d']);
    h.kernels.at(0).confirm();
    await last.promise;
    expect(h.kernels.starts).toBe(2);
  });

  it('losing its last owner cancels a place', async () => {
    const h = await filled({ shutdown: 'hang' }, 'a');
    void h.pool.disposeAll();
    const mine = watch(h.run('b', 's'));
    const shared = watch(h.run('c', 's'));
    const fallback = watch(h.run(undefined, 'f'));
    await h.pool.disposeOwner('b');
    await settle();
    expect([mine.state, shared.state]).toEqual(['pending', 'pending']);
    await h.pool.disposeOwner('c');
    await h.pool.disposeOwner('f');
    for (const run of [mine, shared, fallback]) {
      expect(await run.promise).toMatchObject({ cancelled: true, output: '', exitCode: undefined });
    }
    expect(waiting(h)).toEqual([]);
    expect(h.kernels.starts).toBe(1);
  });

  it('a key that becomes attachable meanwhile is attached', async () => {
    const h = await filled({}, 'a', 'b');
    h.kernels.at(0).shutdownPlans = ['unconfirmed', 'hang'];
    await h.pool.disposeOwner('a');
    const again = watch(h.run('x', 'a'));
    await settle();
    expect(waiting(h)).toEqual(['a']);
    h.kernels.at(0).leaveUnconfirmed();
    expect(await again.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(2);
    expect(h.kernels.at(0).executions).toHaveLength(2);
    expect(h.pool.sessions()[0]?.owners).toEqual([{ id: 'x', kind: 'explicit' }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sd(h)).toEqual([2, 0]);
  });
});

describe('B2.12 eviction', () => {
  it('takes the least recently used; attaching and running refresh the order', async () => {
    const h = await filled({}, 'a', 'b', 'c');
    await h.run('a', 'a');
    await h.pool.warm({ cwd: '/w', sessionId: 'b', ownerId: 'b' });
    await h.run('d', 'd');
    expect(sd(h)).toEqual([0, 0, 1, 0]);
    expect(h.kernels.at(2).shutdowns).toEqual([undefined]);
  });

  it('the end of a run does not refresh the order, its start does', async () => {
    const h = harness({ capacity: 2, execute: 'hang' });
    void h.run('a', 'a');
    await settle();
    void h.run('b', 'b');
    await settle();
    h.kernels.at(1).finish();
    h.kernels.at(0).finish();
    await settle();
    void h.run('c', 'c');
    await settle();
    expect(sd(h)).toEqual([1, 0, 0]);
  });

  it('never takes a busy session or one with a queue; whoever turns idle first is taken', async () => {
    const h = harness({ capacity: 2, execute: 'hang' });
    void h.run('a', 'a');
    void h.run('b', 'b');
    await settle();
    void h.run('c', 'c');
    await vi.advanceTimersByTimeAsync(300_000);
    expect(sd(h)).toEqual([0, 0]);
    h.kernels.at(1).finish();
    await settle();
    expect(sd(h)).toEqual([0, 1, 0]);
  });

  it('happens one at a time', async () => {
    const h = await filled({ shutdown: 'hang' }, 'a', 'b');
    void h.run('c', 'c');
    void h.run('d', 'd');
    await settle();
    expect(sd(h)).toEqual([1, 0]);
    h.kernels.at(0).confirm();
    await settle();
    expect(sd(h)).toEqual([1, 1, 0]);
  });

  it('does not happen while anything drains, until 90 s have passed', async () => {
    const h = await filled({}, 'a', 'b');
    h.kernels.at(0).shutdownPlan = 'hang';
    void h.pool.disposeOwner('a');
    const c = watch(h.run('c', 'c'));
    await vi.advanceTimersByTimeAsync(89_999);
    expect(sd(h)).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(sd(h)).toEqual([1, 1, 0]);
    expect(await c.promise).toMatchObject({ exitCode: 0 });
    expect(h.pool.capacity().counted).toBe(2);
  });

  it('is held back by an unconfirmed kernel only until three attempts without a limit have failed', async () => {
    const h = await filled({ retryIntervalMs: 1_000 }, 'a', 'b');
    h.kernels.at(0).shutdownPlan = 'unconfirmed';
    await h.pool.disposeOwner('a');
    const c = watch(h.run('c', 'c'));
    await vi.advanceTimersByTimeAsync(1_999);
    expect(sd(h)).toEqual([3, 0]);
    expect(c.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(sd(h)).toEqual([4, 1, 0]);
    expect(await c.promise).toMatchObject({ exitCode: 0 });
  });

  it('asks mayEvict with the victim and the requester, and takes the next one after a no', async () => {
    const asked: [SessionSnapshot, WaiterSnapshot][] = [];
    const h = await filled(
      {
        mayEvict: (victim, requester) => (
          asked.push([victim, requester]),
          victim.sessionId !== 'a'
        ),
      },
      'a',
      'b',
    );
    await h.run('c', 'c');
    expect(sd(h)).toEqual([0, 1, 0]);
    expect(asked).toMatchObject([
      [{ sessionId: 'a' }, { sessionId: 'c', owners: [{ id: 'c' }] }],
      [{ sessionId: 'b' }, { sessionId: 'c' }],
    ]);
  });

  it('a no for all, or a failing answer, makes the caller wait', async () => {
    const h = await filled(
      {
        mayEvict: () => {
          throw new Error('no answer');
        },
      },
      'a',
    );
    const b = watch(h.run('b', 'b'));
    await settle();
    expect(b.state).toBe('pending');
    await h.pool.disposeOwner('a');
    expect(await b.promise).toMatchObject({ exitCode: 0 });
  });

  it('a victim whose stop is not confirmed is back under its key, with its owners', async () => {
    const h = await filled({}, 'a');
    h.kernels.at(0).shutdownPlan = 'unconfirmed';
    const b = watch(h.run('b', 'b'));
    await settle();
    expect(h.pool.sessions()).toMatchObject([
      { state: { kind: 'stopUnconfirmed' }, owners: [{ id: 'a', kind: 'explicit' }] },
    ]);
    expect((await h.run('a', 'a')).output).toBe('');
    expect(b.state).toBe('pending');
  });

  it('capacity can be raised while somebody waits', async () => {
    const h = harness({ capacity: 1, execute: 'hang' });
    void h.run('a', 'a');
    await settle();
    void h.run('b', 'b');
    await settle();
    expect(h.kernels.starts).toBe(1);
    h.pool.configure({ capacity: 2 });
    expect(h.kernels.starts).toBe(2);
  });
});
