import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock';
import { SessionsModel } from '../../src/editor/sessions/sessionsModel';
import type { KernelPool, SessionSnapshot } from '../../src/pool/types';

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
