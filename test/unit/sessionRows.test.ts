import { describe, expect, it } from 'vitest';
import { changedRows, sessionOfRow, sessionRows, type Row } from '../../src/editor/sessions/rows';
import { duration } from '../../src/editor/sessions/words';
import type { SessionSnapshot, SessionStateSnapshot } from '../../src/pool/types';

const now = 1_000_000;
const context = {
  now,
  ownerId: 'window:me',
  labelOf: () => 'project',
  firstLineOf: (id: string) => (id === 'r1' ? 'train(model)' : undefined),
};

function session(
  state: SessionStateSnapshot,
  more: Partial<SessionSnapshot> = {},
): SessionSnapshot {
  return {
    id: 's1',
    sessionId: 'python:default',
    cwd: '/w/project',
    interpreter: undefined,
    incarnation: 1,
    state,
    owners: [{ id: 'window:me', kind: 'explicit' }],
    queue: [],
    pid: 4711,
    description: 'Python 3.11.7 (/usr/bin/python3)',
    memoryBytes: undefined,
    isAboveMemoryCap: false,
    startedAt: now - 60_000,
    ...more,
  };
}

const busy: SessionStateSnapshot = {
  kind: 'busy',
  since: now - 12_300,
  execution: { id: 'r1', ownerId: 'window:me', queuedAt: now - 12_400, startedAt: now - 12_300 },
};

function rowOf(snapshot: SessionSnapshot): Row {
  const [row] = sessionRows([snapshot], context);
  if (!row) throw new Error('no row');
  return row;
}

const texts = (row: Row): string[] =>
  row.children.map((child) => `${child.label} | ${child.description}`);

describe('the row of a session', () => {
  it('that runs says what, since when, with which Python and who holds it', () => {
    const row = rowOf(session(busy, { queue: [{ id: 'r2', ownerId: 'chat', queuedAt: now }] }));
    expect(`${row.label} ${row.description}`).toBe(
      'project running 12 s · 1 waiting · Python 3.11.7',
    );
    expect(texts(row)).toEqual([
      'train(model) | running 12 s',
      'code of another owner | waiting',
      'This window | holds it',
      'Python 3.11.7 | /usr/bin/python3',
      'Process 4711 | ',
    ]);
    expect(row.spoken).toBe('project, Python 3.11.7, running 12 s, 1 waiting, held by This window');
  });

  it.each<[SessionStateSnapshot, string, string[]]>([
    [{ kind: 'starting', since: now }, 'starting', ['killable']],
    [{ kind: 'idle', since: now }, 'idle', ['restartable', 'killable']],
    [busy, 'running 12 s', ['running', 'restartable', 'killable']],
    [{ kind: 'stopping', since: now, attempt: 1 }, 'stopping', ['killable']],
    [
      { kind: 'stopUnconfirmed', since: now, attempt: 2, reason: 'It did not end.', place: 'key' },
      'stop not confirmed',
      ['killable'],
    ],
    [{ kind: 'dead', since: now, summary: 'SIGSEGV' }, 'ended', ['restartable']],
  ])('in state %j offers what can be done there', (state, doing, abilities) => {
    const row = rowOf(session(state));
    expect(row.description.split(' · ')[0]).toBe(doing);
    expect(row.contextValue).toBe(['holdfast.session', ...abilities].join(' '));
  });

  it('that stops says which step is taken and when the next one comes', () => {
    const progress = { step: 'terminate', startedAt: now, deadline: now + 2_000 } as const;
    const row = rowOf(session({ kind: 'stopping', since: now, attempt: 2, progress }));
    expect(row.description).toContain('stopping: sent SIGTERM');
    expect(texts(row)[0]).toBe('Stopping: sent SIGTERM | attempt 2 · next step in 2 s');
  });

  it('whose stop is not confirmed says why, and when it is tried again', () => {
    const row = rowOf(
      session(
        {
          kind: 'stopUnconfirmed',
          since: now,
          attempt: 3,
          reason: 'No exit was seen.',
          nextTryAt: now + 30_000,
          place: 'key',
        },
        { owners: [] },
      ),
    );
    expect(texts(row)[0]).toBe('No exit was seen. | attempt 3 · next try in 30 s');
    expect(row.spoken).toContain('held by nobody');
  });

  it('is told from the rows below it by its id', () => {
    const row = rowOf(session(busy));
    expect(sessionOfRow(row.id)).toBe('s1');
    expect(row.children.map((child) => sessionOfRow(child.id))).toEqual(
      row.children.map(() => undefined),
    );
    expect(sessionOfRow({ not: 'a row' })).toBeUndefined();
  });
});

describe('rows to refresh', () => {
  const running = (seconds: number): Row => {
    const since = now - seconds * 1_000;
    return rowOf(session({ ...busy, since, execution: { ...busy.execution, startedAt: since } }));
  };

  it('are none where nothing differs', () => {
    expect(changedRows(running(3), running(3))).toEqual([]);
  });

  it('are the session with all below it when its own text differs', () => {
    expect(changedRows(running(3), running(4))).toEqual(['session:s1']);
  });

  it('are just the row that differs when it is one below', () => {
    const named = session({ kind: 'idle', since: now }, { memoryBytes: 5 * 2 ** 20 });
    const grown = { ...named, memoryBytes: 9 * 2 ** 20 };
    // The session's tooltip tells the memory too, so it goes along.
    expect(changedRows(rowOf(named), rowOf(grown))).toEqual(['session:s1']);
    const row = rowOf(named);
    const [first, ...rest] = row.children;
    const other = { ...row, children: [{ ...first, description: 'other' } as Row, ...rest] };
    expect(changedRows(row, other)).toEqual([first?.id]);
  });
});

it.each([
  [-5, '0 s'],
  [59_999, '59 s'],
  [125_000, '2 min 5 s'],
  [3_840_000, '1 h 4 min'],
])('%d ms is %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});
