import { expect, it } from 'vitest';
import { silentLog } from '../../src/base/log';
import { createTranscript } from '../../src/editor/panel/transcript';
import { parseKept, renameOwner } from '../../src/editor/reload/keptState';
import { keptKeys } from '../../src/editor/reload/keep';
import { LiveSessions } from '../../src/editor/reload/liveSessions';
import { replay, type PastEvent } from '../../src/editor/reload/replay';
import { takeUp } from '../../src/editor/reload/takeUp';
import { SessionBook } from '../../src/editor/sessions/sessionBook';
import { sessionKeyOf } from '../../src/editor/sessions/target';
import type { SessionRecord } from '../../src/pool/records';
import type { SessionSnapshot } from '../../src/pool/types';

const record: SessionRecord = {
  id: 'session-1',
  sessionId: 'python:default',
  cwd: '/w',
  incarnation: 2,
  owners: [
    { id: 'window:old', kind: 'explicit' },
    { id: 'chat:1', kind: 'explicit' },
  ],
  execution: { id: 'run-1', ownerId: 'window:old', origin: 'person', queuedAt: 1, startedAt: 2 },
  queue: [
    { id: 'run-2', ownerId: 'window:old', origin: 'person', queuedAt: 3, code: '2' },
    { id: 'run-3', ownerId: 'chat:1', origin: 'tool', queuedAt: 4 },
  ],
};

it('what was kept is parsed; what does not parse is left out', () => {
  const book = new SessionBook();
  const kept = new Map<string, unknown>([
    [keptKeys.window, 'window:old'],
    [keptKeys.book, book.content()],
    [keptKeys.session('session-1'), JSON.parse(JSON.stringify(record))],
    [keptKeys.session('session-2'), { id: 4 }],
  ]);
  const state = parseKept(kept);
  expect(state.records).toEqual([record]);
  expect(state.window).toBe('window:old');
  expect(state.book).toEqual(book.content());
  expect(parseKept(new Map([[keptKeys.window, 5]]))).toEqual({
    window: undefined,
    book: undefined,
    records: [],
  });
});

it('the window before is this one, and nobody else is', () => {
  const renamed = renameOwner(record, 'window:old', 'window:new');
  expect(renamed.owners.map(({ id }) => id)).toEqual(['window:new', 'chat:1']);
  expect(renamed.execution?.ownerId).toBe('window:new');
  expect(renamed.queue.map(({ ownerId }) => ownerId)).toEqual(['window:new', 'chat:1']);
});

it('a book goes through JSON: choices, folders and names are the same', () => {
  const target = {
    language: 'python' as const,
    sessionId: 'python:try',
    cwd: '/w',
    interpreter: undefined,
    label: 'try',
  };
  const book = new SessionBook();
  book.choose({ document: 'a.py' }, target);
  book.rename(sessionKeyOf(target), 'mine');
  const next = new SessionBook();
  const { book: content } = parseKept(
    new Map([[keptKeys.book, JSON.parse(JSON.stringify(book.content())) as unknown]]),
  );
  next.restore(content!);
  expect(next.current('a.py', '/w')).toEqual(target);
  expect(next.labelOf(target)).toBe('mine');
});

it('a window that comes after its kernel host has ended knows what is lost, and whose it was', () => {
  const store = memento();
  const snapshot = (sessionId: string, kind: 'idle' | 'starting'): SessionSnapshot => ({
    ...{ id: sessionId, sessionId, cwd: '/w', interpreter: undefined, incarnation: 1 },
    owners: [
      { id: 'window:old', kind: 'explicit' },
      { id: 'chat:1', kind: 'explicit' },
      { id: 'chat:2', kind: 'departed' },
    ],
    ...{ state: { kind, since: 0 }, queue: [], startedAt: 0 },
    ...{ pid: undefined, description: undefined, memoryBytes: undefined },
  });
  const before = new LiveSessions(store, 'window:old', silentLog);
  before.note([snapshot('python:a', 'idle'), snapshot('python:b', 'starting')], 7);
  const after = new LiveSessions(store, 'window:new', silentLog);
  expect(after.lost([6])).toEqual([
    {
      key: sessionKeyOf({ sessionId: 'python:a', cwd: '/w' }),
      holders: ['window:new', 'chat:1'],
      why: 'it ended while the window was away',
    },
  ]);
  // Another window's, which is still there.
  expect(after.lost([6, 7])).toEqual([]);
  before.note([], 7);
  expect(after.lost([6])).toEqual([]);
});

it('what the store has of something else is no session', () => {
  const store = memento();
  expect(new LiveSessions(store, 'window:new', silentLog).lost([])).toEqual([]);
  void store.update('holdfast.liveSessions', { host: 'x' });
  expect(new LiveSessions(store, 'window:new', silentLog).lost([])).toEqual([]);
});

function memento() {
  const values = new Map<string, unknown>();
  return {
    get: (key: string) => values.get(key),
    update: (key: string, value: unknown) => Promise.resolve(void values.set(key, value)),
  };
}

it('a replay shows runs as they were, leaves to a resumed one what comes with it, and hides internal looks', () => {
  const transcript = createTranscript();
  const key = sessionKeyOf(record);
  const output = (execution: string | null, text: string): PastEvent => ({
    what: 'output',
    execution,
    output: { type: 'stream', name: 'stdout', text },
  });
  const reply = {
    status: 'error',
    cancelled: false,
    timedOut: false,
    stdinRequested: false,
  } as const;
  const events: PastEvent[] = [
    { what: 'begun', execution: 'prelude:0', at: 1, code: 'import x' },
    output('prelude:0', 'from the prelude\n'),
    { what: 'begun', execution: 'helpers:1', at: 1, code: 'look()' },
    output('helpers:1', 'not for people\n'),
    { what: 'begun', execution: 'run-0', at: 2, code: '1 / 0' },
    output('run-0', 'before\n'),
    { what: 'finished', execution: 'run-0', at: 3, reply },
    { what: 'begun', execution: 'run-1', at: 4, code: 'slow()' },
    output('run-1', 'comes with the run\n'),
  ];
  replay(transcript, { key, label: 'w', sessionId: 'python:default' }, events, new Set(['run-1']));
  const shown = JSON.stringify(transcript.reader(key).read().entries);
  expect(shown).toContain('from the prelude');
  expect(shown).toContain('before');
  expect(shown).not.toMatch(/not for people|comes with the run|look\(\)/);
  expect(shown).toMatch(/"state":"error"/);
  expect(shown).toMatch(/"code":"slow\(\)".*"state":"running"/);
});

it('a kernel that ended while the window was away: its last run is shown with all its output and its end', () => {
  const transcript = createTranscript();
  const runs = { takeUp: () => ({}), follow: () => undefined };
  const reply = { cancelled: false, timedOut: false, stdinRequested: false } as const;
  const at = { n: 1, kernel: 'k', execution: 'run-1', at: 1 };
  const text = { type: 'stream', name: 'stdout', text: 'all of it\n' } as const;
  const taken = takeUp(
    {
      kept: new Map<string, unknown>([
        [keptKeys.window, 'window:old'],
        [keptKeys.session('session-1'), record],
      ]),
      histories: new Map([
        [
          sessionKeyOf(record),
          [
            { ...at, what: 'begun', code: 'slow()' },
            { ...at, what: 'output', output: text },
            { ...at, what: 'finished', reply: { ...reply, status: 'ok' } },
          ],
        ],
      ]),
      holds: () => false,
      reattach: () => Promise.resolve(undefined),
      stopOthers() {},
    },
    {
      ownerId: 'window:new',
      transcript,
      book: new SessionBook(),
      runs,
      otherPlaces: [],
      record() {},
      preludes: { takeUp: (kernel) => Promise.resolve(kernel) },
      log: silentLog,
    },
  );
  const shown = JSON.stringify(transcript.reader(sessionKeyOf(record)).read().entries);
  expect(shown).toMatch(/"state":"ok"/);
  expect(shown).toContain('all of it');
  // The pool would say of it that its end is not known.
  expect(taken.adopt).toMatchObject([
    { id: 'session-1', queue: [{ id: 'run-2' }, { id: 'run-3' }] },
  ]);
  expect(taken.adopt?.[0]).not.toHaveProperty('execution');
});
