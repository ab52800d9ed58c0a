import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../src/base/deferred';
import { harness, settle, watch } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A harness whose starts hang until they are let go. */
function slowStart() {
  const gate = deferred();
  const h = harness({ prepare: () => gate.promise });
  return { h, gate };
}

describe('A1 identity', () => {
  it('a session is its id, its directory and its chosen interpreter', async () => {
    const h = harness({ capacity: 9 });
    await h.run('a', 's', { cwd: '/1' });
    await h.run('a', 's', { cwd: '/2' });
    await h.run('a', 't', { cwd: '/1' });
    await h.run('a', undefined, { cwd: '/1' });
    await h.run('a', undefined, { cwd: '/1' });
    const chosen = { cwd: '/1', sessionId: 's', interpreter: '/bin/python' };
    await h.pool.execute('x', chosen);
    expect(h.kernels.starts).toBe(5);
    expect(h.kernels.requests[4]).toMatchObject(chosen);
    expect(Object.keys(h.kernels.requests[0]!).sort()).toEqual([
      'cwd',
      'owners',
      'place',
      'sessionId',
      'signal',
    ]);
    expect(h.kernels.requests[3]?.sessionId).toBe('session:/1');
  });

  it.each(['\0', '","', '/'])(
    '%j in an id or a directory makes no two sessions one',
    async (mark) => {
      const h = harness();
      await h.run('a', `s${mark}t`, { cwd: 'u' });
      await h.run('a', 's', { cwd: `t${mark}u` });
      expect(h.kernels.starts).toBe(2);
    },
  );
});

describe('E4 who a kernel is started for', () => {
  it('is told with each start, of whoever holds the session at that moment', async () => {
    const gate = deferred();
    const h = harness({
      capacity: 1,
      prepare: (_, index) => (index === 0 ? gate.promise : undefined),
    });
    const first = h.run('chat:a', 's');
    const joined = h.run('window:b', 's');
    gate.resolve();
    await Promise.all([first, joined]);
    await h.pool.restart(h.pool.sessions()[0]!.id);
    await h.run('chat:c', 't', { mode: 'per-call' });
    await h.run(undefined, 't', { mode: 'per-call' });
    const waits = [h.run('chat:d', 'u'), h.run('window:e', 'u')];
    await h.pool.stop(h.pool.sessions()[0]!.id);
    await Promise.all(waits);
    expect(h.kernels.requests.map(({ owners }) => owners)).toEqual([
      ['chat:a'],
      ['chat:a', 'window:b'],
      ['chat:c'],
      [],
      ['chat:d', 'window:e'],
    ]);
  });

  it('and what its environment lacks is shown until another kernel is there', async () => {
    const withheldEnvironment = { sensitive: ['A_KEY'], unlisted: [] };
    const h = harness({
      prepare: (kernel, index) =>
        void (index === 0 && Object.assign(kernel, { withheldEnvironment })),
    });
    await h.run('chat:a', 's');
    expect(h.pool.sessions()[0]).toMatchObject({ withheldEnvironment });
    await h.pool.restart(h.pool.sessions()[0]!.id);
    expect(h.pool.sessions()[0]).not.toHaveProperty('withheldEnvironment');
  });

  it('its stderr can be read while it is shown, also when it has ended', async () => {
    const stderr = (): Promise<string> => Promise.resolve('words');
    const h = harness({ prepare: (kernel) => void Object.assign(kernel, { stderr }) });
    await h.run('a', 's');
    const { id } = h.pool.sessions()[0]!;
    h.kernels.at(0).die();
    expect(await h.pool.stderr(id)).toBe('words');
    await expect(h.pool.stderr('gone')).rejects.toMatchObject({ code: 'kernel_not_found' });
  });
});

describe('A3 sharing and start-up', () => {
  it('takes the slot and shows the session, with its owners, before the first await', () => {
    const { h } = slowStart();
    void h.run('a', 's');
    void h.run('b', 's');
    expect(h.kernels.starts).toBe(1);
    expect(h.pool.sessions()).toMatchObject([
      {
        sessionId: 's',
        state: { kind: 'starting' },
        owners: [{ id: 'a' }, { id: 'b' }],
        queue: [{ ownerId: 'a' }, { ownerId: 'b' }],
      },
    ]);
  });

  it('one of two owners disposed during the start only detaches', async () => {
    const { h, gate } = slowStart();
    const a = watch(h.run('a', 's'));
    const b = watch(h.run('b', 's'));
    await h.pool.disposeOwner('a');
    expect(h.kernels.requests[0]?.signal.aborted).toBe(false);
    gate.resolve();
    await Promise.all([a.promise, b.promise]);
    expect(h.kernels.at(0)).toMatchObject({ codes: ['x', 'x'], sd: 0 });
  });

  it.each(['disposeOwner', 'disposeAll'] as const)(
    '%s during the start: the kernel that arrives is shut down, its code never sent',
    async (way) => {
      const { h, gate } = slowStart();
      const run = watch(h.run('a', 's'));
      const disposed = watch(way === 'disposeAll' ? h.pool.disposeAll() : h.pool.disposeOwner('a'));
      expect(await run.promise).toMatchObject({ cancelled: true, output: '', exitCode: undefined });
      expect(h.kernels.requests[0]?.signal.aborted).toBe(true);
      expect(h.pool.capacity().counted).toBe(1);
      expect(disposed.state).toBe('pending');
      gate.resolve();
      await disposed.promise;
      expect(h.kernels.at(0).shutdowns).toEqual([
        way === 'disposeAll' ? undefined : { timeoutMs: 2000 },
      ]);
      expect(h.kernels.at(0).codes).toEqual([]);
      expect(h.pool.sessions()).toEqual([]);
    },
  );

  it('a kernel that arrives after its start was forgotten is shut down all the same', async () => {
    const { h, gate } = slowStart();
    void h.run('a', 's');
    void h.pool.disposeOwner('a');
    await h.pool.forget('session-1');
    expect(h.pool.capacity().counted).toBe(0);
    gate.resolve();
    await settle();
    expect(h.kernels.at(0)).toMatchObject({ codes: [], shutdowns: [undefined] });
  });

  it('a call for the key of an aborted start begins another', async () => {
    const { h, gate } = slowStart();
    void h.run('a', 's');
    void h.pool.disposeOwner('a');
    const b = watch(h.run('b', 's'));
    expect(h.kernels.starts).toBe(2);
    gate.resolve();
    expect(await b.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.all.map(({ sd }) => sd)).toEqual([1, 0]);
  });

  it('a caller waits for the start under its own limits, and the start goes on', async () => {
    const { h, gate } = slowStart();
    const run = watch(h.run('a', 's', { timeoutMs: 1_000 }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await run.promise).toMatchObject({ cancelled: true });
    expect(h.kernels.requests[0]?.signal.aborted).toBe(false);
    gate.resolve();
    expect(await h.run('a', 's')).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(1);
  });

  it('a start that fails rejects whoever joined it, frees the slot, and is not remembered', async () => {
    const h = harness({
      capacity: 1,
      prepare: (_, index) => {
        if (index === 0) throw new Error('no interpreter');
      },
    });
    const runs = [h.run('a', 's'), h.run('b', 's')];
    const waiting = watch(h.run('c', 't'));
    for (const run of runs) await expect(run).rejects.toThrow('no interpreter');
    expect(await waiting.promise).toMatchObject({ exitCode: 0 });
    expect(h.pool.capacity().counted).toBe(1);
  });

  it('a start beyond its limit is aborted and rejects; its late kernel is shut down', async () => {
    const { h, gate } = slowStart();
    const run = watch(h.run('a', 's'));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(run.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    await expect(run.promise).rejects.toMatchObject({ code: 'start_timeout' });
    expect(h.kernels.requests[0]?.signal.aborted).toBe(true);
    expect(h.pool.capacity().counted).toBe(1);
    gate.resolve();
    await settle();
    expect(h.kernels.at(0).shutdowns).toEqual([undefined]);
    expect(h.pool.capacity().counted).toBe(0);
  });

  it('a global disposal does not wait longer for a start than the start’s limit', async () => {
    const { h } = slowStart();
    void h.run('a', 's');
    const all = watch(h.pool.disposeAll());
    await vi.advanceTimersByTimeAsync(59_999);
    expect(all.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(all.state).toBe('resolved');
    expect(h.pool.capacity().counted).toBe(1);
  });
});

describe('A5 per-call', () => {
  it.each([
    ['confirms', 'confirm'],
    ['is unconfirmed', 'unconfirmed'],
    ['fails', { reject: new Error('stop') }],
  ] as const)('a shutdown that %s does not change the result', async (_, shutdown) => {
    const h = harness({ shutdown });
    expect(await h.run('a', 's', { mode: 'per-call' })).toMatchObject({ exitCode: 0 });
    expect(h.kernels.at(0).shutdowns).toEqual([undefined]);
    expect(h.pool.sessions()).toEqual([]);
  });

  it('shuts down once after an error, a rejection and a timeout', async () => {
    const h = harness({ execute: 'hang' });
    const runs = [1, 2, 3].map(() => watch(h.run('a', 's', { mode: 'per-call', timeoutMs: 500 })));
    await settle();
    h.kernels
      .at(0)
      .finish({ status: 'error', cancelled: false, timedOut: false, stdinRequested: false });
    h.kernels.at(1).unanswered[0]?.reply.reject(new Error('protocol'));
    await vi.advanceTimersByTimeAsync(500);
    expect(await runs[0]?.promise).toMatchObject({ exitCode: 1 });
    await expect(runs[1]?.promise).rejects.toThrow('protocol');
    expect(await runs[2]?.promise).toMatchObject({ cancelled: true });
    expect(h.kernels.all.map(({ sd }) => sd)).toEqual([1, 1, 1]);
  });

  it('does not occupy or wait for a slot', async () => {
    const h = harness({ capacity: 1, execute: 'hang' });
    void h.run('a', 's');
    await settle();
    const run = watch(h.run('b', 't', { mode: 'per-call' }));
    await settle();
    expect(h.pool.capacity().counted).toBe(1);
    await h.pool.disposeOwner('b');
    expect(h.kernels.at(1).sd).toBe(0);
    h.kernels.at(1).finish();
    expect(await run.promise).toMatchObject({ exitCode: 0 });
  });

  it('a caller that has left leaves no kernel behind', async () => {
    const { h, gate } = slowStart();
    const abort = new AbortController();
    const run = watch(h.run('a', 's', { mode: 'per-call', signal: abort.signal }));
    abort.abort();
    expect(await run.promise).toMatchObject({ cancelled: true, output: '' });
    expect(h.kernels.requests[0]?.signal.aborted).toBe(true);
    gate.resolve();
    await settle();
    expect(h.kernels.at(0)).toMatchObject({ codes: [], sd: 1 });
  });
});

describe('B4 warm-up', () => {
  const docs = [{ name: 'f', signature: '()', docstring: 'd', category: 'c' }];

  it('keeps docs by content: a hit starts the session all the same, and skips the introspection', async () => {
    let introspections = 0;
    const h = harness({
      preludeContent: ({ cwd }) => (cwd === '/other' ? 'B' : 'A'),
      prepare: (kernel) => {
        kernel.introspectPrelude = () => Promise.resolve((introspections++, docs));
      },
    });
    await h.pool.warm({ cwd: '/1', ownerId: 'a' });
    expect(await h.pool.warm({ cwd: '/2', ownerId: 'b' })).toEqual({ ok: true, docs });
    expect([h.kernels.starts, introspections]).toEqual([2, 1]);
    expect(h.pool.sessions()[1]?.owners).toEqual([{ id: 'b', kind: 'explicit' }]);
    await h.pool.warm({ cwd: '/other', ownerId: 'b' });
    expect(introspections).toBe(2);
  });

  it('a hit does not wait for what runs, and gives first lines of docstrings', async () => {
    const h = harness({
      prepare: (kernel) => {
        kernel.introspectPrelude = () =>
          Promise.resolve([{ ...docs[0]!, docstring: '\n  First.\n\n  More.' }]);
      },
    });
    const warm = () => h.pool.warm({ cwd: '/w', sessionId: 's', ownerId: 'b' });
    await warm();
    h.kernels.at(0).executePlan = 'hang';
    void h.run('a', 's');
    expect(await warm()).toEqual({ ok: true, docs: [{ ...docs[0], docstring: 'First.' }] });
  });

  it('a failed one answers its reason and leaves nothing in the cache', async () => {
    let introspections = 0;
    const h = harness({
      prepare: (kernel) => {
        kernel.introspectPrelude = () =>
          introspections++ === 0 ? Promise.reject(new Error('bad prelude')) : Promise.resolve(docs);
      },
    });
    expect(await h.pool.warm({ cwd: '/w' })).toEqual({ ok: false, reason: 'bad prelude' });
    expect(await h.pool.warm({ cwd: '/w' })).toEqual({ ok: true, docs });
    expect([h.kernels.starts, introspections]).toEqual([1, 2]);
  });

  it('a failed start is its reason too, and a kernel without a prelude has no docs', async () => {
    const h = harness({
      prepare: (_, index) => {
        if (index === 0) throw new Error('no interpreter');
      },
    });
    expect(await h.pool.warm({ cwd: '/w' })).toEqual({ ok: false, reason: 'no interpreter' });
    expect(await h.pool.warm({ cwd: '/w' })).toEqual({ ok: true, docs: [] });
  });

  it('an introspection that hangs ends at its limit, and the session runs on', async () => {
    const h = harness({
      prepare: (kernel) => {
        kernel.introspectPrelude = () => new Promise(() => {});
      },
    });
    const warm = watch(h.pool.warm({ cwd: '/w', sessionId: 's' }));
    const run = watch(h.run('a', 's'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await warm.promise).toMatchObject({ ok: false });
    expect(await run.promise).toMatchObject({ exitCode: 0 });
  });
});
