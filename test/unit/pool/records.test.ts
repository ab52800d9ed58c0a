import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionRecord } from '../../../src/pool/records';
import type { ExecutionResult } from '../../../src/pool/types';
import { deferred } from '../../../src/base/deferred';
import { type FakeKernel, interruptedReply, okReply } from '../../support/fakeKernel';
import { harness, settle, watch } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Keeps what a pool hands out, as the kernel host does. */
function keeper() {
  const kept = new Map<string, SessionRecord>();
  const onRecord = (id: string, record: SessionRecord | undefined): void => {
    if (record) kept.set(id, structuredClone(record));
    else kept.delete(id);
  };
  return { kept, onRecord };
}

describe('B8 records', () => {
  it('are handed out ahead of each effect', async () => {
    const { kept, onRecord } = keeper();
    const at: [string, SessionRecord | undefined][] = [];
    const note = (effect: string): void =>
      void at.push([effect, structuredClone(kept.get('session-1'))]);
    const h = harness({
      onRecord,
      prepare: (kernel) => {
        note('start');
        const { execute, shutdown } = kernel;
        kernel.execute = (...args) => (note('execute'), execute.apply(kernel, args));
        kernel.shutdown = (...args) => (note('shutdown'), shutdown.apply(kernel, args));
      },
    });
    const request = { cwd: '/w', sessionId: 's', ownerId: 'a', executionId: 'e' };
    await h.pool.execute('secret', { ...request, origin: 'tool' });
    await h.pool.disposeOwner('a');
    expect(at).toMatchObject([
      ['start', { sessionId: 's', cwd: '/w', incarnation: 1, owners: [{ id: 'a' }] }],
      ['execute', { execution: { id: 'e', ownerId: 'a', origin: 'tool' }, queue: [] }],
      ['shutdown', { stop: { attempt: 1 }, owners: [{ id: 'a', kind: 'departed' }] }],
    ]);
    expect(JSON.stringify(at)).not.toContain('secret');
    expect(kept.size).toBe(0);
  });

  /** A pool with a running call, a person's and a tool's in line, and a session whose stop is not confirmed. */
  async function before() {
    const { kept, onRecord } = keeper();
    const h = harness({ onRecord, execute: 'hang', shutdown: 'unconfirmed' });
    const run = (code: string, origin: 'person' | 'tool') =>
      void h.pool.execute(code, {
        cwd: '/w',
        sessionId: 's',
        ownerId: 'w',
        executionId: code,
        origin,
      });
    run('running', 'person');
    run('mine', 'person');
    run('tool’s', 'tool');
    void h.run('b', 'leaving');
    await settle();
    h.kernels.at(1).isStopping = () => true;
    await h.pool.disposeOwner('b');
    return { records: [...kept.values()], kernels: h.kernels };
  }

  it('build the pool again: owners, the running code, a person’s queue, and stops that are not confirmed', async () => {
    const { records, kernels } = await before();
    const running = kernels.at(0);
    Object.assign(running, {
      resume: () => {
        running.executePlan = 'ok';
        return Promise.resolve(okReply);
      },
    });
    kernels.at(1).confirm();
    const adopted = new Map<string, Promise<ExecutionResult>>();
    const h = harness({
      adopt: records,
      reattachKernel: ({ sessionId }) =>
        Promise.resolve(sessionId === 's' ? kernels.at(0) : kernels.at(1)),
      onAdoptedRun: ({ executionId, result }) => adopted.set(executionId, result),
    });
    expect(h.pool.capacity().counted).toBe(2);
    expect(h.pool.sessions()).toMatchObject([
      { id: 'session-1', owners: [{ id: 'w', kind: 'explicit' }] },
      { id: 'session-2', state: { kind: 'stopping' } },
    ]);
    await settle();
    expect([...adopted.keys()]).toEqual(['running', 'mine', expect.stringMatching(/^run-/)]);
    for (const id of ['running', 'mine'])
      expect(await adopted.get(id)).toMatchObject({ exitCode: 0 });
    expect(running.codes).toEqual(['running', 'mine']);
    expect(h.pool.sessions()).toMatchObject([
      { id: 'session-1', incarnation: 1, state: { kind: 'idle' } },
    ]);
    await h.run('new', 'next');
    expect(h.kernels.starts).toBe(1);
    expect(new Set(h.pool.sessions().map(({ id }) => id)).size).toBe(2);
  });

  it('a kernel that is gone costs its running code, and a person’s queue gets a new one', async () => {
    const { records } = await before();
    const adopted = new Map<string, Promise<ExecutionResult>>();
    const h = harness({
      adopt: records,
      reattachKernel: () => Promise.resolve(undefined),
      onAdoptedRun: ({ executionId, result }) => adopted.set(executionId, result),
    });
    await settle();
    expect(await adopted.get('running')).toMatchObject({ cancelled: true });
    expect(await adopted.get('mine')).toMatchObject({
      exitCode: 0,
      notes: ['[New kernel, earlier variables are gone: it ended while the window was away]'],
    });
    expect(h.kernels.all.map((kernel: FakeKernel) => kernel.codes)).toEqual([['mine']]);
    expect(h.pool.capacity().counted).toBe(1);
  });

  it('a call for an adopted key joins while its kernel is being found', async () => {
    const { records, kernels } = await before();
    kernels.at(0).executePlan = 'ok';
    const h = harness({
      adopt: records
        .map((record) => ({ ...record, queue: [] }))
        .map(({ execution: _, ...rest }) => rest),
      reattachKernel: ({ sessionId }) =>
        Promise.resolve(sessionId === 's' ? kernels.at(0) : undefined),
    });
    const run = watch(h.run('w', 's', { code: 'after' }));
    expect(await run.promise).toMatchObject({ exitCode: 0 });
    expect(h.kernels.starts).toBe(0);
  });

  /** The pool after that, whose kernel is found when the test says so. */
  async function after(records: readonly SessionRecord[]) {
    const adopted = new Map<string, Promise<ExecutionResult>>();
    const found = deferred<FakeKernel | undefined>();
    const { kept, onRecord } = keeper();
    const caller = new AbortController();
    const h = harness({
      onRecord,
      adopt: records.filter(({ sessionId }) => sessionId === 's'),
      reattachKernel: () => found.promise,
      adoptedCaller: () => ({ signal: caller.signal }),
      onAdoptedRun: ({ executionId, result }) => adopted.set(executionId, result),
    });
    await settle();
    return { ...h, adopted, found, kept, caller };
  }

  /** Has the kernel answer for the run that it was sent, when the test says so. */
  function resumable(kernel: FakeKernel) {
    const reply = deferred<typeof okReply>();
    const resumed: string[] = [];
    const resume: FakeKernel['resume'] = ({ executionId, signal }) => {
      resumed.push(executionId);
      signal.addEventListener('abort', () => reply.resolve(interruptedReply));
      return reply.promise;
    };
    kernel.resume = resume;
    kernel.executePlan = 'ok';
    return { reply, resumed };
  }

  it('a window that ends before its kernel is found again leaves the running code as running, whoever asked for it', async () => {
    const { records, kernels } = await before();
    const second = await after(records);
    expect([...second.kept.values()]).toMatchObject([
      { execution: { id: 'running', startedAt: expect.any(Number) }, queue: [{ id: 'mine' }] },
    ]);
    const { reply, resumed } = resumable(kernels.at(0));
    const third = await after([...second.kept.values()]);
    third.found.resolve(kernels.at(0));
    await settle();
    expect(resumed).toEqual(['running']);
    reply.resolve(interruptedReply);
    expect(await third.adopted.get('running')).toMatchObject({ cancelled: true });
    expect(await third.adopted.get('mine')).toMatchObject({ exitCode: 0 });
    // Neither twice nor as nothing.
    expect(kernels.at(0).codes).toEqual(['running', 'mine']);
  });

  it('a kernel that dies on its way to the next window still tells how its run ended', async () => {
    const { records, kernels } = await before();
    const { found, adopted } = await after(records);
    const { reply } = resumable(kernels.at(0));
    kernels.at(0).alive = false;
    reply.resolve(okReply);
    found.resolve(kernels.at(0));
    expect(await adopted.get('running')).toMatchObject({ exitCode: 0, cancelled: false });
    expect(await adopted.get('mine')).toMatchObject({ exitCode: 0 });
  });

  it('running code that is cancelled before its kernel is found again is interrupted when it is', async () => {
    const { records, kernels } = await before();
    const { found, adopted, caller } = await after(records);
    const { resumed } = resumable(kernels.at(0));
    const run = watch(adopted.get('running')!);
    caller.abort();
    await settle();
    expect(run.state).toBe('pending');
    found.resolve(kernels.at(0));
    expect(await run.promise).toMatchObject({ cancelled: true });
    expect(resumed).toEqual(['running']);
  });

  it('running code of a session that was being stopped has its end there too', async () => {
    const { records, kernels } = await before();
    const stop = { claimedAt: 0, attempt: 1 };
    const { found, adopted, pool } = await after(
      records.map((record) => ({ ...record, queue: [], stop })),
    );
    const { resumed } = resumable(kernels.at(0));
    kernels.at(0).shutdownPlan = 'confirm';
    found.resolve(kernels.at(0));
    expect(await adopted.get('running')).toMatchObject({ cancelled: true });
    expect(resumed).toEqual(['running']);
    expect(pool.sessions()).toEqual([]);
  });

  it('a restart or a reset during the search is for the kernel that is found', async () => {
    const { records, kernels } = await before();
    const first = await after(records.map((record) => ({ ...record, queue: [] })));
    resumable(kernels.at(0));
    kernels.at(0).shutdownPlan = 'confirm';
    const restart = watch(first.pool.restart('session-1'));
    first.found.resolve(kernels.at(0));
    await restart.promise;
    expect(await first.adopted.get('running')).toMatchObject({ cancelled: true });
    expect(first.pool.sessions()).toMatchObject([{ incarnation: 2, state: { kind: 'idle' } }]);

    const again = await before();
    const second = await after(again.records.map((record) => ({ ...record, queue: [] })));
    const { reply } = resumable(again.kernels.at(0));
    again.kernels.at(0).shutdownPlan = 'confirm';
    const reset = second.run('w', 's', { code: 'fresh', reset: true });
    second.found.resolve(again.kernels.at(0));
    await settle();
    reply.resolve(okReply);
    expect(await reset).toMatchObject({ exitCode: 0 });
    expect(again.kernels.at(0).codes).toEqual(['running']);
    expect(second.kernels.at(0).codes).toEqual(['fresh']);
  });

  it('a kernel that was found again has been up since its own start', async () => {
    const { records, kernels } = await before();
    const startedAt = Date.now();
    await vi.advanceTimersByTimeAsync(60_000);
    const { found, pool } = await after(records.map((each) => ({ ...each, queue: [] })));
    found.resolve(kernels.at(0));
    await settle();
    expect(pool.sessions()).toContainEqual(expect.objectContaining({ id: 'session-1', startedAt }));
  });

  it('who held a session of which nothing is left is told at the next run, once', async () => {
    const why = 'it ended while the window was away';
    const key = JSON.stringify(['s', '/w', '']);
    const h = harness({ lost: [{ key, holders: ['w', 'chat'], why }] });
    const notes = [`[New kernel, earlier variables are gone: ${why}]`];
    expect((await h.run('w', 's')).notes).toEqual(notes);
    expect(await h.run('w', 's')).not.toHaveProperty('notes');
    expect(await h.run('other', 's')).not.toHaveProperty('notes');
    expect((await h.run('chat', 's')).notes).toEqual(notes);
  });

  it('who holds a session is told when the kernel that was found again is lost', async () => {
    const { records, kernels } = await before();
    const { found, pool, run } = await after(
      records.map(({ execution: _, ...record }) => ({ ...record, queue: [] })),
    );
    kernels.at(0).shutdownPlan = 'confirm';
    found.resolve(kernels.at(0));
    await settle();
    await pool.restart('session-1');
    expect((await run('w', 's')).notes?.join()).toContain('New kernel');
  });

  it('a kernel that cannot be reached ends its running code, and the next run is told', async () => {
    const { records } = await before();
    const { found, adopted, run } = await after(records.map((each) => ({ ...each, queue: [] })));
    found.reject(new Error('The kernel host does not answer.'));
    expect((await adopted.get('running'))?.notes?.join()).toContain('does not answer');
    expect((await run('w', 's')).notes).toEqual([
      '[New kernel, earlier variables are gone: it could not be taken up after the reload]',
    ]);
  });
});
