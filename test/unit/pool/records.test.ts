import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionRecord } from '../../../src/pool/records';
import type { ExecutionResult } from '../../../src/pool/types';
import { type FakeKernel, okReply } from '../../support/fakeKernel';
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
    expect([...adopted.keys()]).toEqual(['running', 'mine']);
    for (const result of adopted.values()) expect(await result).toMatchObject({ exitCode: 0 });
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
    expect(await adopted.get('mine')).toMatchObject({ exitCode: 0 });
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
});
