import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from '../../src/base/log';
import { createTranscript } from '../../src/editor/panel/transcript';
import { parseKept, renameOwner } from '../../src/editor/reload/keptState';
import { keepForNextWindow, keptKeys } from '../../src/editor/reload/keep';
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
    shown: [],
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
  const resumed = new Set(['run-1']);
  replay(transcript, { key, label: 'w', language: 'python', resumed, outline: [] }, events);
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

/** A window's panel, and what it has the host keep. */
function openPanel() {
  const transcript = createTranscript();
  const kept = new Map<string, unknown>();
  keepForNextWindow({
    host: {
      keep(key, value) {
        if (value === undefined) kept.delete(key);
        else kept.set(key, JSON.parse(JSON.stringify(value)));
      },
    },
    ownerId: 'window:old',
    book: new SessionBook(),
    transcript,
  });
  return { transcript, kept };
}

type Panel = ReturnType<typeof openPanel>;

function reloaded(
  { kept }: Pick<Panel, 'kept'>,
  histories: [string, (PastEvent & { n: number; kernel: string })[]][],
) {
  const next = openPanel();
  takeUp(
    {
      kept,
      histories: new Map(histories),
      holds: () => true,
      reattach: () => Promise.resolve(undefined),
      stopOthers() {},
    },
    {
      ownerId: 'window:new',
      transcript: next.transcript,
      book: new SessionBook(),
      runs: { takeUp: () => ({}), follow: () => undefined },
      otherPlaces: [],
      record() {},
      preludes: { takeUp: (kernel) => Promise.resolve(kernel) },
      log: silentLog,
    },
  );
  return next;
}

const shownIn = ({ transcript }: Panel, key: string): unknown =>
  transcript
    .reader(key)
    .read()
    .entries.map((entry) => ({ ...entry, id: undefined }));

const idle: SessionRecord = {
  id: 'session-1',
  sessionId: 'python:default',
  cwd: '/w',
  incarnation: 2,
  owners: [{ id: 'window:old', kind: 'explicit' }],
  queue: [],
};

const cancelled = { cancelled: true, exitCode: undefined } as const;

describe('a panel over a reload, and over a second one', () => {
  const key = sessionKeyOf(idle);
  const begin = ({ transcript }: Panel, executionId: string, code: string, queuedAt: number) =>
    transcript.begin({
      ...{ executionId, code, queuedAt },
      ...{ sessionKey: key, sessionLabel: 'w', language: 'python', owner: null },
    });
  const reply = { cancelled: false, timedOut: false, stdinRequested: false } as const;

  afterEach(() => void vi.useRealTimers());

  it('has its runs and notes in order, with the times and words of the window before, whether they were sent or not', () => {
    vi.useFakeTimers({ now: 1_000, toFake: ['Date'] });
    const before = openPanel();
    const { transcript } = before;
    begin(before, 'A', 'sleep(6)', 1_000);
    transcript.started('A', 1_001);
    vi.setSystemTime(1_500);
    begin(before, 'B', 'never', 1_500);
    vi.setSystemTime(4_000);
    const notes = ['The kernel was restarted.'];
    transcript.finished('A', { at: 4_000, result: { ...cancelled, notes } });
    transcript.finished('B', { at: 4_001, result: { ...cancelled, notes: ['Not run.'] } });
    vi.setSystemTime(4_010);
    transcript.note(key, 'Kernel restarted');
    vi.setSystemTime(5_000);
    begin(before, 'C', 'print(1)', 5_000);
    transcript.started('C', 5_001);
    transcript.output('C', { type: 'stream', name: 'stdout', text: 'one\n' });
    const gone = 'New kernel, earlier variables are gone.';
    const end = { cancelled: false, exitCode: 0, notes: [gone] };
    transcript.finished('C', { at: 5_017, result: end });
    const shown = shownIn(before, key);
    before.kept.set(keptKeys.session(idle.id), idle);

    const text = { type: 'stream', name: 'stdout', text: 'one\n' } as const;
    const host: [string, (PastEvent & { n: number; kernel: string })[]] = [
      key,
      [
        { n: 1, kernel: 'k', what: 'begun', execution: 'A', at: 1_003, code: 'sleep(6)' },
        { n: 2, kernel: 'k2', what: 'begun', execution: 'C', at: 5_006, code: 'print(1)' },
        { n: 3, kernel: 'k2', what: 'output', execution: 'C', output: text },
        {
          ...{ n: 4, kernel: 'k2', what: 'finished', execution: 'C', at: 5_008 },
          reply: { ...reply, status: 'ok' },
        },
      ],
    ];
    vi.setSystemTime(9_000);
    const first = reloaded(before, [host]);
    expect(shownIn(first, key)).toEqual(shown);
    first.kept.set(keptKeys.session(idle.id), idle);
    expect(shownIn(reloaded(first, [host]), key)).toEqual(shown);
  });

  it('output of no run stands behind what stood there when it came', () => {
    vi.useFakeTimers({ now: 1_000, toFake: ['Date'] });
    const before = openPanel();
    before.transcript.note(key, 'Kernel restarted');
    vi.setSystemTime(3_000);
    begin(before, 'A', '1', 3_000);
    const text = { type: 'stream', name: 'stdout', text: 'prelude\n' } as const;
    const next = reloaded(before, [
      [
        key,
        [
          { n: 1, kernel: 'k', what: 'begun', execution: 'prelude:0', at: 2_000, code: 'x' },
          { n: 2, kernel: 'k', what: 'output', execution: 'prelude:0', output: text },
          { n: 3, kernel: 'k', what: 'begun', execution: 'A', at: 3_001, code: '1' },
        ],
      ],
    ]);
    expect(shownIn(next, key)).toMatchObject([
      { kind: 'note' },
      { kind: 'loose' },
      { kind: 'run' },
    ]);
  });

  it('an end that only the host saw is shown as the host tells it', () => {
    const before = openPanel();
    begin(before, 'A', '1', 1);
    before.transcript.started('A', 2);
    const next = reloaded(before, [
      [
        key,
        [
          { n: 1, kernel: 'k', what: 'begun', execution: 'A', at: 3, code: '1' },
          {
            ...{ n: 2, kernel: 'k', what: 'finished', execution: 'A', at: 9 },
            reply: { ...reply, status: 'error' },
          },
        ],
      ],
    ]);
    expect(shownIn(next, key)).toMatchObject([
      { head: { state: 'error', startedAt: 2, endedAt: 9 } },
    ]);
  });

  it('a run that waits and that nobody asks for any more is not shown; what waits on is, with all its code', () => {
    const before = openPanel();
    const long = '# line\n'.repeat(5_000);
    begin(before, 'agent', 'x', 1);
    begin(before, 'mine', long, 2);
    // Of code that the session's record has too, only the beginning.
    expect(JSON.stringify([...before.kept]).length).toBeLessThan(long.length);
    const waiting = [
      { id: 'agent', queuedAt: 1 },
      { id: 'mine', queuedAt: 2, code: long },
    ];
    before.kept.set(keptKeys.session(idle.id), { ...idle, queue: waiting });
    expect(shownIn(reloaded(before, []), key)).toMatchObject([
      { head: { state: 'queued', code: long } },
    ]);
  });

  it('a session that was stopped has ended, and the one that goes on is looked at', () => {
    vi.useFakeTimers({ now: 1_000, toFake: ['Date'] });
    const before = openPanel();
    begin(before, 'A', '1', 1_000);
    vi.setSystemTime(2_000);
    const tour = sessionKeyOf({ ...idle, sessionId: 'python:tour' });
    const run = { executionId: 'T', sessionKey: tour, sessionLabel: 'tour', code: '2' };
    before.transcript.begin({ ...run, language: 'python', owner: null, queuedAt: 2_000 });
    before.transcript.started('T', 2_001);
    before.transcript.finished('T', { at: 2_002, result: { cancelled: false, exitCode: 0 } });
    before.kept.set(keptKeys.session(idle.id), {
      ...idle,
      queue: [{ id: 'A', queuedAt: 1_000, code: '1' }],
    });
    const history: PastEvent & { n: number; kernel: string } = {
      ...{ n: 1, kernel: 'k', what: 'begun', execution: 'T', at: 2_001, code: '2' },
    };
    const next = reloaded(before, [[tour, [history]]]);
    expect(next.transcript.sessions()).toMatchObject([
      { key: tour, label: 'tour', state: 'gone' },
      { key, state: 'starting' },
    ]);
  });
});

it('what no longer is shown no longer rides ahead', () => {
  const { transcript, kept } = openPanel();
  transcript.note('k', 'a note');
  const riding = () => [...kept.keys()].filter((name) => name.startsWith(keptKeys.shown('')));
  expect(riding()).toHaveLength(1);
  transcript.clear('k');
  expect(riding()).toEqual([]);
});
