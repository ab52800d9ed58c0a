import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionStateSnapshot } from '../../../src/pool/types';
import { harness, settle, watch, type Harness } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limited = { timeoutMs: 2000 };
const state = ({ pool }: Harness, index = 0): SessionStateSnapshot | undefined =>
  pool.sessions()[index]?.state;

async function filled(h: Harness, ...owners: string[]): Promise<Harness> {
  for (const owner of owners) await h.run(owner, owner);
  return h;
}

describe('B2 the disposal rule', () => {
  it('2: other disposers join the attempt in flight', async () => {
    const h = await filled(harness({ shutdown: 'hang' }), 'a');
    const first = watch(h.pool.disposeOwner('a'));
    const second = watch(h.pool.disposeOwner('a'));
    await settle();
    expect(h.kernels.at(0).shutdowns).toEqual([limited]);
    expect([first.state, second.state]).toEqual(['pending', 'pending']);
    h.kernels.at(0).confirm();
    await Promise.all([first.promise, second.promise]);
  });

  it.each(['unconfirmed', { reject: new Error('lost') }] as const)(
    '4: a limited attempt that failed (%j) in a full pool is repeated at once without a limit, before the clean-up resolves',
    async (plan) => {
      const h = await filled(harness({ capacity: 1, shutdown: 'hang' }), 'a');
      h.kernels.at(0).shutdownPlans = [plan];
      let callsWhenResolved = 0;
      await h.pool.disposeOwner('a').then(() => (callsWhenResolved = h.kernels.at(0).sd));
      expect(callsWhenResolved).toBe(2);
      expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined]);
      const again = watch(h.run('a', 'a'));
      await settle();
      expect(again.state).toBe('pending');
    },
  );

  it('5: with room the session returns under its key, counted, and owes a retry after 30 s', async () => {
    const h = await filled(harness({ shutdown: 'unconfirmed' }), 'a');
    await h.pool.disposeOwner('a');
    expect(state(h)).toMatchObject({
      kind: 'stopUnconfirmed',
      attempt: 1,
      nextTryAt: Date.now() + 30_000,
    });
    expect(h.pool.sessions()[0]?.owners).toEqual([{ id: 'a', kind: 'departed' }]);
    await vi.advanceTimersByTimeAsync(29_999);
    expect(h.kernels.at(0).shutdowns).toEqual([limited]);
    await vi.advanceTimersByTimeAsync(1);
    expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined]);
  });

  it('5: the owed retry is issued at the first pressure, and once', async () => {
    const h = await filled(harness({ capacity: 2, shutdown: 'unconfirmed' }), 'a');
    await h.pool.disposeOwner('a');
    await h.run('b', 'b');
    expect(h.kernels.at(0).sd).toBe(1);
    const c = watch(h.run('c', 'c'));
    await settle();
    expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined]);
    expect(c.state).toBe('pending');
    const d = watch(h.run('d', 'd'));
    await settle();
    expect(h.kernels.at(0).sd).toBe(2);
    expect(d.state).toBe('pending');
  });

  it('5: a kernel past the asking step of its stop is not given back', async () => {
    const h = await filled(harness({ shutdown: 'unconfirmed' }), 'a');
    h.kernels.at(0).isStopping = () => true;
    await h.pool.disposeOwner('a');
    await h.run('b', 'a');
    expect(h.kernels.starts).toBe(2);
    expect(state(h)).toMatchObject({ kind: 'stopUnconfirmed', place: 'ownName' });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined]);
    expect(h.kernels.at(1).sd).toBe(0);
  });

  it('6: after an unlimited attempt that failed, pressure starts no other, an explicit dispose does', async () => {
    const h = await filled(harness({ capacity: 1, shutdown: 'unconfirmed' }), 'a');
    await h.pool.disposeOwner('a');
    expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined]);
    const b = watch(h.run('b', 'b'));
    await settle();
    expect(h.kernels.at(0).sd).toBe(2);
    h.kernels.at(0).shutdownPlan = 'confirm';
    await h.pool.disposeOwner('a');
    expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined, limited]);
    expect(await b.promise).toMatchObject({ exitCode: 0 });
  });

  it('7: with its key taken again it drains under its own name, with the same timing', async () => {
    const h = await filled(harness({ shutdown: 'hang' }), 'a');
    void h.pool.disposeOwner('a');
    await h.run('b', 'a');
    h.kernels.at(0).leaveUnconfirmed();
    await settle();
    expect(state(h)).toMatchObject({ kind: 'stopUnconfirmed', place: 'ownName' });
    await h.run('c', 'a');
    expect(h.kernels.at(1).executions).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined]);
  });

  it('8: an attach cancels the timer and drops departed owners', async () => {
    const h = await filled(harness({ shutdown: 'unconfirmed' }), 'a');
    await h.pool.disposeOwner('a');
    await h.run('b', 'a');
    expect(h.pool.sessions()[0]?.owners).toEqual([{ id: 'b', kind: 'explicit' }]);
    await vi.advanceTimersByTimeAsync(60_000);
    await h.pool.disposeOwner('a');
    expect(h.kernels.at(0).sd).toBe(1);
    await h.pool.disposeOwner('b');
    expect(h.kernels.at(0).sd).toBe(2);
  });

  it('8: after an attach the time of the next retry counts anew', async () => {
    const h = await filled(harness({ shutdown: 'unconfirmed' }), 'a');
    await h.pool.disposeOwner('a');
    await vi.advanceTimersByTimeAsync(10_000);
    await h.run('a', 'a');
    await vi.advanceTimersByTimeAsync(10_000);
    await h.pool.disposeOwner('a');
    await vi.advanceTimersByTimeAsync(29_999);
    expect(h.kernels.at(0).shutdowns).toEqual([limited, limited]);
    await vi.advanceTimersByTimeAsync(1);
    expect(h.kernels.at(0).shutdowns).toEqual([limited, limited, undefined]);
  });

  it('9: a hung attempt stays in flight and is not called again', async () => {
    const h = await filled(harness({ shutdown: 'hang' }), 'a');
    const cleanUp = watch(h.pool.disposeOwner('a'));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(cleanUp.state).toBe('resolved');
    await vi.advanceTimersByTimeAsync(300_000);
    expect(h.kernels.at(0).sd).toBe(1);
    expect(state(h)).toMatchObject({ kind: 'stopping', attempt: 1 });
  });

  it('10: a global disposal makes one unlimited attempt also where a timer is pending', async () => {
    const h = await filled(harness({ shutdown: 'unconfirmed' }), 'a');
    await h.pool.disposeOwner('a');
    h.kernels.at(0).shutdownPlan = 'hang';
    const all = watch(h.pool.disposeAll());
    await settle();
    expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(h.kernels.at(0).sd).toBe(2);
    expect(all.state).toBe('pending');
    h.kernels.at(0).confirm();
    await all.promise;
  });

  it('10: joining a limited attempt lasts at most the clean-up limit', async () => {
    const h = await filled(harness({ shutdown: 'hang' }), 'a');
    void h.pool.disposeOwner('a');
    await vi.advanceTimersByTimeAsync(500);
    const all = watch(h.pool.disposeAll());
    await vi.advanceTimersByTimeAsync(1_999);
    expect(all.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(all.state).toBe('resolved');
    expect(h.kernels.at(0).sd).toBe(1);
  });

  it('10: where the joined limited attempt fails, its retry follows and is waited for', async () => {
    const h = await filled(harness({ shutdown: 'hang' }), 'a');
    void h.pool.disposeOwner('a');
    const all = watch(h.pool.disposeAll());
    h.kernels.at(0).leaveUnconfirmed();
    await settle();
    expect(h.kernels.at(0).shutdowns).toEqual([limited, undefined]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(all.state).toBe('pending');
    h.kernels.at(0).confirm();
    await all.promise;
    expect(h.pool.sessions()).toEqual([]);
  });

  it('10: kernels started later are not part of it', async () => {
    const h = await filled(harness({ shutdown: 'hang' }), 'a');
    const all = watch(h.pool.disposeAll());
    await h.run('b', 'b');
    h.kernels.at(0).confirm();
    await all.promise;
    expect(h.kernels.at(1).sd).toBe(0);
  });

  it('the late answer of a forgotten attempt is ignored', async () => {
    const h = await filled(harness({ capacity: 1, shutdown: 'hang' }), 'a');
    void h.pool.disposeOwner('a');
    await h.pool.forget('session-1');
    expect(h.pool.capacity().counted).toBe(0);
    await h.run('a', 'a');
    h.kernels.at(0).leaveUnconfirmed();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(h.kernels.all.map(({ sd }) => sd)).toEqual([1, 0]);
    expect(state(h)).toMatchObject({ kind: 'idle' });
  });

  it('timers do not outlive what they are for', async () => {
    const h = await filled(harness({ idleExpiryMs: 0 }), 'a', 'b');
    await h.pool.disposeOwner('a');
    await h.pool.disposeAll();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('B3 out of resources', () => {
  const failFirst = (error: Error) => {
    let recoveries = 0;
    const h = harness({
      recoverResources: () => Promise.resolve(void recoveries++),
      prepare: (_, index) => {
        if (index === 0) throw error;
      },
    });
    return { h, recoveries: () => recoveries };
  };

  it.each([
    ['EMFILE', true],
    ['ENFILE', true],
    ['EAGAIN', true],
    ['ENOENT', false],
  ])('code %s: recovered %s', async (code, recovered) => {
    const { h, recoveries } = failFirst(Object.assign(new Error('spawn'), { code }));
    if (recovered) expect(await h.run('a', 's')).toMatchObject({ exitCode: 0 });
    else await expect(h.run('a', 's')).rejects.toMatchObject({ code });
    expect(recoveries()).toBe(recovered ? 1 : 0);
  });

  it.each(['Too many open files', 'fork: Resource temporarily unavailable'])(
    'text %j is recovered',
    async (text) => {
      const { h, recoveries } = failFirst(new Error(`OSError: ${text}`));
      expect(await h.run('a', 's')).toMatchObject({ exitCode: 0 });
      expect(recoveries()).toBe(1);
    },
  );

  it('a second failure is the caller’s; live kernels are left alone', async () => {
    let recoveries = 0;
    const h = harness({
      recoverResources: () => Promise.resolve(void recoveries++),
      prepare: (_, index) => {
        if (index > 0) throw Object.assign(new Error(`spawn ${index}`), { code: 'EMFILE' });
      },
    });
    await h.run('a', 's');
    await expect(h.run('b', 't')).rejects.toThrow('spawn 2');
    expect([recoveries, h.kernels.starts, h.kernels.at(0).sd]).toEqual([1, 3, 0]);
    expect(h.pool.capacity().counted).toBe(1);
  });

  it('a session that has returned to its key is live: it is left alone', async () => {
    const h = harness({
      shutdown: 'unconfirmed',
      prepare: (_, index) => {
        if (index === 1) throw Object.assign(new Error('spawn'), { code: 'EMFILE' });
      },
    });
    await h.run('a', 'a');
    await h.pool.disposeOwner('a');
    await h.run('b', 'b');
    expect(h.kernels.at(0).shutdowns).toEqual([limited]);
    await h.run('a', 'a');
    expect([h.kernels.starts, h.kernels.at(0).codes.length]).toEqual([3, 2]);
  });

  it('starts that fail together are recovered together', async () => {
    let recoveries = 0;
    const h = harness({
      recoverResources: () => Promise.resolve(void recoveries++),
      prepare: (_, index) => {
        if (index < 2) throw Object.assign(new Error('spawn'), { code: 'EMFILE' });
      },
    });
    await Promise.all([h.run('a', 's'), h.run('b', 't')]);
    expect([recoveries, h.kernels.starts]).toEqual([1, 4]);
  });

  it('a failing hook does not cost the second try', async () => {
    const h = harness({
      recoverResources: () => Promise.reject(new Error('no server')),
      prepare: (_, index) => {
        if (index === 0) throw Object.assign(new Error('spawn'), { code: 'EMFILE' });
      },
    });
    expect(await h.run('a', 's')).toMatchObject({ exitCode: 0 });
  });

  it('a draining kernel that can be killed is killed before it is forgotten', async () => {
    let kills = 0;
    const h = harness({
      shutdown: 'hang',
      prepare: (kernel, index) => {
        kernel.kill = () => Promise.resolve({ confirmed: kills++ < 0 });
        if (index === 1) throw Object.assign(new Error('spawn'), { code: 'EMFILE' });
      },
    });
    await h.run('a', 'a');
    void h.pool.disposeOwner('a');
    expect(await h.run('b', 'b')).toMatchObject({ exitCode: 0 });
    expect(kills).toBe(1);
    expect(h.pool.sessions()).toHaveLength(1);
  });
});
