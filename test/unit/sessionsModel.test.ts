import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock';
import { treeRows } from '../../src/editor/sessions/rows';
import { RowTree } from '../../src/editor/sessions/rowTree';
import { SessionsModel } from '../../src/editor/sessions/sessionsModel';
import { createKernelPool } from '../../src/pool/pool';
import type { KernelPool, SessionSnapshot } from '../../src/pool/types';
import { FakeKernel } from '../support/fakeKernel';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function poolWith(sessions: Partial<SessionSnapshot>[]) {
  const listeners = new Set<() => void>();
  const pool = {
    sessions: () => sessions,
    onDidChangeSessions(listener: () => void) {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
  };
  return {
    pool: pool as unknown as KernelPool,
    change: () => listeners.forEach((listener) => listener()),
    listeners,
  };
}

it('tells views of the first change at once, and of a storm of them at most ten times a second', () => {
  const model = new SessionsModel(systemClock);
  const { pool, change } = poolWith([]);
  model.attach(pool);
  vi.advanceTimersByTime(1_000);
  let told = 0;
  model.onDidChange(() => told++);
  change();
  expect(told).toBe(1);
  for (let i = 0; i < 1_000; i++) {
    change();
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(200);
  expect(told).toBeGreaterThan(5);
  expect(told).toBeLessThanOrEqual(12);
});

it('prefers the session that can be used where an old one of the same key still stops', () => {
  const key = { sessionId: 'python:default', cwd: '/w', interpreter: undefined };
  const { pool } = poolWith([
    { ...key, id: 'new', state: { kind: 'idle', since: 0 } },
    { ...key, id: 'old', state: { kind: 'stopping', since: 0, attempt: 1 } },
  ]);
  const model = new SessionsModel(systemClock);
  expect(model.sessions()).toEqual([]);
  model.attach(pool);
  expect(model.withKey(JSON.stringify(['python:default', '/w', '']))?.id).toBe('new');
});

it('knows the key of a session that is gone, so that its late output finds its place', () => {
  const sessions: Partial<SessionSnapshot>[] = [
    {
      id: 's',
      sessionId: 'python:default',
      cwd: '/w',
      interpreter: '/py',
      state: { kind: 'idle', since: 0 },
    },
  ];
  const { pool, change } = poolWith(sessions);
  const model = new SessionsModel(systemClock);
  model.attach(pool);
  sessions.pop();
  change();
  expect(model.keyOf('s')).toBe(JSON.stringify(['python:default', '/w', '/py']));
});

it('lets go of the pool', () => {
  const { pool, listeners } = poolWith([]);
  const model = new SessionsModel(systemClock);
  model.attach(pool);
  model.dispose();
  expect(listeners.size).toBe(0);
});

it('costs a view no more for a thousand changes a second than what an eye can follow', async () => {
  const kernels: FakeKernel[] = [];
  const pool = createKernelPool({
    startKernel(request) {
      const kernel = new FakeKernel(request);
      kernels.push(kernel);
      return Promise.resolve(kernel);
    },
  });
  let asked = 0;
  const model = new SessionsModel(systemClock);
  model.attach(pool);
  const tree = new RowTree();
  const drawn: (string | undefined)[] = [];
  model.onDidChange(() => {
    asked++;
    const rows = treeRows(model.sessions(), model.capacity(), {
      now: Date.now(),
      ownerId: 'window:me',
      labelOf: ({ cwd }) => cwd,
      firstLineOf: () => undefined,
      inOwnKernels: () => [],
    });
    drawn.push(...tree.replace(rows));
  });
  const run = (cwd: string): Promise<unknown> =>
    pool.execute('1', { cwd, sessionId: 'python:x', ownerId: 'window:me' });
  await run('/w/quiet');
  for (let ms = 0; ms < 1_000; ms++) {
    await run('/w/a');
    await vi.advanceTimersByTimeAsync(1);
  }
  await vi.advanceTimersByTimeAsync(200);
  expect(kernels.map(({ executions }) => executions.length)).toEqual([1, 1_000]);
  expect(asked).toBeLessThanOrEqual(14);
  // The first ones draw everything, as sessions come; after that the quiet session is left alone.
  expect(drawn.length).toBeLessThanOrEqual(asked);
  expect(drawn).not.toContain('session:session-1');
});
