import { describe, expect, it } from 'vitest';
import { ownerOfRow, runOfRow, sessionOfRow, type Row } from '../../src/editor/sessions/row';
import { treeRows } from '../../src/editor/sessions/rows';
import { RowTree } from '../../src/editor/sessions/rowTree';
import { age, duration, stateInWords } from '../../src/editor/sessions/words';
import type { CapacitySnapshot, SessionSnapshot, SessionStateSnapshot } from '../../src/pool/types';

const now = 1_000_000;
const context = {
  now,
  ownerId: 'window:me',
  labelOf: () => 'project',
  firstLineOf: (id: string) => (id === 'r1' ? 'train(model)' : undefined),
  inOwnKernels: () => [],
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
  const [row] = treeRows([snapshot], undefined, context);
  if (!row) throw new Error('no row');
  return row;
}

const texts = (row: Row): string[] =>
  row.children.map((child) => `${child.label} | ${child.description}`);

describe('the row of a session', () => {
  it('that is being prepared shows nobody’s code', () => {
    const preparation = {
      id: 'p1',
      ownerId: undefined,
      queuedAt: now,
      isPreparation: true,
    } as const;
    const starting = rowOf(session({ kind: 'starting', since: now }, { queue: [preparation] }));
    expect(starting.description).toBe('starting · Python 3.11.7');
    expect(texts(starting)[0]).toBe('This window | holds it');
    const running = rowOf(session({ kind: 'busy', since: now, execution: preparation }));
    expect(texts(running)[0]).toBe('a look at its prelude | running 0 s');
  });

  it('that runs says what, since when, with which Python and who holds it', () => {
    const row = rowOf(session(busy, { queue: [{ id: 'r2', ownerId: 'chat', queuedAt: now }] }));
    expect(`${row.label} ${row.description}`).toBe('project running · 1 waiting · Python 3.11.7');
    expect(texts(row)).toEqual([
      'train(model) | running 12 s',
      'code of another owner | waiting',
      'This window | holds it',
      'Python 3.11.7 | /usr/bin/python3',
      'Process 4711 | up 1 min',
    ]);
    expect(row.spoken).toBe('project, Python 3.11.7, running, 1 waiting, held by This window');
  });

  it.each<[SessionStateSnapshot, string, string[]]>([
    [{ kind: 'starting', since: now }, 'starting', ['stoppable', 'killable']],
    [{ kind: 'idle', since: now }, 'idle', ['restartable', 'stoppable', 'killable']],
    [busy, 'running', ['running', 'restartable', 'stoppable', 'killable']],
    [{ kind: 'stopping', since: now, attempt: 1 }, 'stopping', ['forceKillable', 'forgettable']],
    [
      { kind: 'stopping', since: now, attempt: 1, startsAnew: true },
      'restarting',
      ['forceKillable'],
    ],
    [
      { kind: 'stopUnconfirmed', since: now, attempt: 2, reason: 'It did not end.', place: 'key' },
      'stop not confirmed',
      ['retryable', 'forceKillable', 'forgettable'],
    ],
    [{ kind: 'dead', since: now, summary: 'SIGSEGV' }, 'ended', ['restartable', 'stoppable']],
  ])('in state %j offers what can be done there', (state, doing, abilities) => {
    const row = rowOf(session(state));
    expect(row.description.split(' · ')[0]).toBe(doing);
    expect(row.contextValue).toBe(['holdfast.session', ...abilities].join(' '));
  });

  it('that does not respond says so and since when, with a shape of its own', () => {
    const silence = { since: now - 14_000, of: 'kernel' } as const;
    const idle = rowOf(session({ kind: 'idle', since: now }, { silence }));
    expect(idle.description).toBe('not responding · Python 3.11.7');
    expect(idle.icon.name).toBe('debug-disconnect');
    expect(texts(idle)[0]).toBe(
      'Not responding | for 14 s · native code may keep it busy, or it is suspended; Kill ends it',
    );
    expect(idle.spoken).toContain('not responding');
    const running = session(busy, { silence: { ...silence, of: 'kernelHost' } });
    expect(rowOf(running).description).toBe('running, not responding · Python 3.11.7');
    expect(texts(rowOf(running))[0]).toContain('the kernel host does not answer');
    expect(stateInWords(running, now)).toBe('running 12 s, not responding');
  });

  it('that agents started says what its environment lacks, and what a person can do who holds it too', () => {
    const withheldEnvironment = { sensitive: ['A_KEY', 'LD_PRELOAD'], unlisted: ['X', 'Y'] };
    const chat = { id: 'chat:1', kind: 'explicit' } as const;
    const idle = { kind: 'idle', since: now } as const;
    const row = rowOf(session(idle, { withheldEnvironment, owners: [chat] })).children.at(-1);
    expect(row?.label).toBe('Withheld');
    expect(row?.description).toBe('A_KEY, LD_PRELOAD and 2 others');
    expect(row?.details).toContainEqual(['Not given either', 'X, Y']);
    expect(row?.details.at(-1)?.[1]).toContain('holdfast.agents.environment');
    const joined = rowOf(
      session(idle, { withheldEnvironment, owners: [chat, { id: 'window:me', kind: 'explicit' }] }),
    ).children.at(-1);
    expect(joined?.label).toBe('Withheld, restart to have it');
    expect(joined?.details.at(-1)).toEqual([
      'What to do',
      "Restart it: you hold it now, so it gets your window's environment.",
    ]);
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
    expect(texts(row)[0]).toBe('Attempt 3 failed, next try in 30 s | No exit was seen.');
    expect(row.spoken).toContain('held by nobody');
  });

  it('has a shape of its own for each state, for those who do not see colours', () => {
    const unheeded: SessionStateSnapshot = {
      ...busy,
      execution: { ...busy.execution, interruptedAt: now - 6_000, unheeded: true },
    };
    const states: SessionStateSnapshot[] = [
      { kind: 'starting', since: now },
      { kind: 'idle', since: now },
      busy,
      unheeded,
      { kind: 'stopping', since: now, attempt: 1 },
      { kind: 'stopUnconfirmed', since: now, attempt: 1, reason: 'No exit was seen.' },
      { kind: 'dead', since: now, summary: 'SIGSEGV' },
    ];
    const shapes = states.map((state) => rowOf(session(state)).icon.name);
    expect(new Set(shapes).size).toBe(states.length);
    expect(rowOf(session(unheeded)).spoken).toContain('interrupt not heeded');
  });

  it('says what an owner is called, where it has told', () => {
    const owners = [{ id: 'extension:acme.tools', kind: 'explicit' }] as const;
    const idle = session({ kind: 'idle', since: now }, { owners });
    const nameOf = (id: string): string => `name of ${id}`;
    const [row] = treeRows([idle], undefined, { ...context, nameOf });
    expect(row?.spoken).toContain('held by name of extension:acme.tools');
  });

  it('tells owners that hold it from those that have left, and lets only the former be released', () => {
    const owners = [
      { id: 'window:me', kind: 'departed' },
      { id: 'window:other', kind: 'explicit' },
      { id: 'chat:7', kind: 'explicit' },
    ] as const;
    const row = rowOf(session({ kind: 'idle', since: now }, { owners }));
    const rows = row.children.filter(({ contextValue }) => contextValue !== 'holdfast.detail');
    expect(rows.map((each) => [each.label, each.description, each.contextValue])).toEqual([
      ['This window', 'has left', 'holdfast.departed'],
      ['Another window', 'holds it', 'holdfast.owner'],
      ['Chat 7', 'holds it', 'holdfast.owner'],
    ]);
    expect(rows.map(({ id }) => ownerOfRow(id)?.ownerId)).toEqual(owners.map(({ id }) => id));
  });

  it('calls a chat by its title, and says when one that was closed lets go', () => {
    const owners = [{ id: 'chat:7', kind: 'explicit' }] as const;
    const [row] = treeRows([session({ kind: 'idle', since: now }, { owners })], undefined, {
      ...context,
      nameOf: (id) => (id === 'chat:7' ? 'Chat “fit the model”' : undefined),
      letsGoAt: () => now + 270_000,
    });
    expect(texts(row!)[0]).toBe('Chat “fit the model” | closed, lets go in 4 min');
    expect(row!.spoken).toContain('held by Chat “fit the model”');
  });

  it('says that it uses too much memory, and for whom it is where it is private', () => {
    const row = rowOf(
      session(
        { kind: 'idle', since: now },
        { memoryBytes: 3 * 2 ** 30, isAboveMemoryCap: true, privateTo: 'chat:7' },
      ),
    );
    expect(row.description).toBe('idle · too much memory · only for Chat 7 · Python 3.11.7');
    expect(texts(row).at(-1)).toBe(
      'Process 4711 | 3.0 GB · above the cap in the settings · up 1 min',
    );
    expect(row.spoken).toContain('too much memory');
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

describe('the line of slots', () => {
  const waiter = {
    sessionId: 'python:lab',
    cwd: '/w/project',
    interpreter: undefined,
    owners: [{ id: 'window:me', kind: 'explicit' }],
    since: now - 4_000,
    calls: [],
  } as const;
  const labels = {
    ...context,
    labelOf: ({ sessionId }: { sessionId: string }) => sessionId.replace('python:', ''),
  };
  const line = (sessions: SessionSnapshot[], capacity: CapacitySnapshot): Row | undefined =>
    treeRows(sessions, capacity, labels).find(({ id }) => id.startsWith('capacity'));

  it('is not there while nothing is', () => {
    expect(treeRows([], { capacity: 4, counted: 0, waiting: [] }, context)).toEqual([]);
  });

  it('counts, and offers to free one when all are taken', () => {
    const idle = session({ kind: 'idle', since: now });
    const some = line([idle], { capacity: 4, counted: 1, waiting: [] });
    expect([some?.label, some?.description, some?.contextValue]).toEqual([
      '1 of 4 kernels',
      '',
      'holdfast.capacity',
    ]);
    const full = line([idle], { capacity: 1, counted: 1, waiting: [] });
    expect([full?.label, full?.description, full?.contextValue]).toEqual([
      '1 of 1 kernel',
      'all slots are taken',
      'holdfast.capacity full',
    ]);
  });

  it('says who waits, since when, and for whom', () => {
    const stuck = session(
      { kind: 'stopUnconfirmed', since: now, attempt: 2, reason: 'No exit was seen.' },
      { id: 's2', sessionId: 'python:old' },
    );
    const row = line([session(busy), stuck], { capacity: 2, counted: 2, waiting: [waiter] });
    expect(row?.description).toBe('1 waiting for a slot');
    expect(row?.children.map((child) => `${child.label} | ${child.description}`)).toEqual([
      'lab waits | for default, old (stop not confirmed) · under 1 min',
    ]);
    expect(row?.children[0]?.spoken).toBe(
      'lab waits for a slot for under 1 min. The slots are taken by default, old (stop not confirmed)',
    );
  });
});

describe('rows to draw again', () => {
  const running = (seconds: number): SessionSnapshot => {
    const since = now - seconds * 1_000;
    return session({ ...busy, since, execution: { ...busy.execution, startedAt: since } });
  };
  const rows = (...sessions: SessionSnapshot[]): Row[] => treeRows(sessions, undefined, context);

  it('are all when another session comes or goes, and none where nothing differs', () => {
    const tree = new RowTree();
    expect(tree.replace(rows(running(3)))).toEqual([undefined]);
    expect(tree.replace(rows(running(3)))).toEqual([]);
    expect(tree.replace([])).toEqual([undefined]);
  });

  it('are the session with all below it when its own text differs, and no other session', () => {
    const tree = new RowTree();
    const other = { ...running(0), id: 's2', state: { kind: 'idle', since: now } } as const;
    tree.replace(rows(running(3), other));
    const older = running(120);
    expect(tree.replace(rows(older, other))).toEqual(['session:s1']);
  });

  it('are not the session with its buttons and its tooltip for each second that passes', () => {
    const tree = new RowTree();
    tree.replace(rows(running(3)));
    expect(tree.replace(rows(running(4)))).toEqual(['s1/run:r1']);
  });

  it('are just the row that differs when it is one below', () => {
    const tree = new RowTree();
    const young = session({ kind: 'idle', since: now });
    tree.replace(rows(young));
    expect(tree.replace(rows({ ...young, startedAt: now - 600_000 }))).toEqual(['s1/process']);
    expect(tree.parentOf('s1/process')).toBe('session:s1');
  });
});

it.each([
  [59_999, 'under 1 min'],
  [3_840_000, '1 h 4 min'],
  [90_000_000, '1 d 1 h'],
])('%d ms old is %s', (ms, words) => {
  expect(age(ms)).toBe(words);
});

it.each([
  [-5, '0 s'],
  [59_999, '59 s'],
  [125_000, '2 min 5 s'],
  [3_840_000, '1 h 4 min'],
])('%d ms is %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

describe('a run in a kernel of its own', () => {
  it('has a row by which it can be stopped, though no session retains its kernel', () => {
    const running = { executionId: 'r9', firstLine: 'sweep()', startedAt: now - 3_000 };
    const starting = { executionId: 'r10', firstLine: 'next()', startedAt: undefined };
    const rows = treeRows([], undefined, { ...context, inOwnKernels: () => [running, starting] });
    expect(rows.map(({ label, description }) => `${label} | ${description}`)).toEqual([
      'sweep() | running 3 s · kernel of its own',
      'next() | starting · kernel of its own',
    ]);
    expect(rows.map(({ id }) => runOfRow(id))).toEqual(['r9', 'r10']);
    expect(rows[0]?.contextValue).toBe('holdfast.ownKernel');
  });
});
