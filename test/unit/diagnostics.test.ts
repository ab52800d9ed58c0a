import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../src/base/errors';
import { changedSettings } from '../../src/editor/diagnostics/changedSettings';
import { RecentFailures } from '../../src/editor/diagnostics/recentFailures';
import { redactor } from '../../src/editor/diagnostics/redact';
import { diagnosticsReport, type Facts } from '../../src/editor/diagnostics/report';
import { StopLog } from '../../src/editor/diagnostics/stops';
import { defaults } from '../../src/editor/settings';
import type { BackgroundFacts } from '../../src/editor/sessions/backgroundRows';
import type { SessionSnapshot } from '../../src/pool/types';

const now = Date.UTC(2030, 0, 2, 3, 4, 5);

const idle: SessionSnapshot = {
  id: 'session-1',
  sessionId: 'python:s3cret-name',
  cwd: '/home/ada/work',
  interpreter: undefined,
  incarnation: 2,
  state: { kind: 'idle', since: now - 5_000 },
  owners: [
    { id: 'window:me', kind: 'explicit' },
    { id: 'chat:a s3cret topic', kind: 'explicit' },
    { id: 'chat:b', kind: 'explicit' },
  ],
  queue: [],
  pid: 4711,
  description: 'Python 3.11.7 (/home/ada/.venv/bin/python)',
  memoryBytes: 50 * 2 ** 20,
  startedAt: now - 120_000,
  withheldEnvironment: { sensitive: ['A_KEY'], unlisted: ['B', 'C'] },
};

const facts: Facts = {
  now,
  versions: ['Holdfast 1.2.3'],
  settings: [],
  ownerId: 'window:me',
  sessions: [idle],
  capacity: { capacity: 4, counted: 1, waiting: [] },
  background: [],
  stops: [],
  hostPid: 99,
  hosts: [],
  failures: [],
};

const report = (more: Partial<Facts> = {}, env: Record<string, string> = {}): string =>
  diagnosticsReport({ ...facts, ...more }, redactor('/home/ada', env));

describe('the report', () => {
  it('tells of each session what it does, who kind of holds it and what its environment lacks', () => {
    expect(report()).toContain(
      '- session-1: python, idle; for 5 s; process 4711; up 2 min; 50 MB; start 2; ' +
        'held by 1 this window, 2 chat; 0 in line; ' +
        'restricted environment (1 sensitive names and 2 others withheld); ' +
        'in ~/work; Python 3.11.7 (~/.venv/bin/python)',
    );
  });

  it('has the background runs: how they stand, since when, in which process', () => {
    const request = {
      executionId: 'r',
      code: 's3cret()',
      label: 's3cret',
      startedAt: now - 65_000,
    };
    const going: BackgroundFacts = {
      ...{ executionId: 'r', status: 'running', done: false, interrupted: false, error: undefined },
      ...{ startedAt: now - 65_000, endedAt: undefined, request, phase: 'executing' },
      ...{ pid: 4712, memoryBytes: 50 * 2 ** 20 },
    };
    const { phase: _, ...rest } = going;
    const killed: BackgroundFacts = {
      ...rest,
      ...{ status: 'failed', done: true, error: 's3cret', endedAt: now - 60_000, killed: true },
      request: { ...request, ownerId: 'chat:s3cret' },
    };
    const text = report({ background: [going, killed] });
    expect(text).toContain(
      '## Background runs\n- running (executing); started at 2030-01-02T03:03:00.000Z; for 1 min 5 s; ' +
        'process 4712; 50 MB; held by 1 this window\n' +
        '- failed; started at 2030-01-02T03:03:00.000Z; over after 5 s; 50 MB; held by 1 chat; killed\n',
    );
    expect(text).not.toContain('s3cret()');
  });

  it('has the hosts with their ledgers', () => {
    const text = report({
      hosts: [
        {
          pid: 99,
          startTime: '123',
          life: 'living',
          announced: { version: 2, kernels: 1, client: { state: 'attached' } },
          entries: [{ pid: 4711, startTime: '456', state: 'alive' }, { state: 'intended' }],
        },
        { pid: 7, life: 'dead', entries: [] },
      ],
    });
    expect(text).toContain(
      "- process 99; started at 123; living; this window's; protocol 2; 1 kernel; client attached\n" +
        '  - process 4711, started at 456: alive\n  - intended\n' +
        "- process 7; dead; not this window's\n",
    );
    expect(report({ hosts: 'not known within 5 s' })).toContain('- not known within 5 s');
  });

  it('has no code, no output, no secret and no name that people gave, wherever they were planted', () => {
    const failures = new RecentFailures();
    const wrote = 'Traceback: api_key = "s3cret"\nprint("s3cret")';
    failures.add(
      new HoldfastError('interpreter_failed', `/home/ada/py failed. It wrote:\n${wrote}`),
      now,
    );
    failures.add(
      new HoldfastError('protocol', 'The runner sent a bad frame: {"text":"s3cret"}'),
      now,
    );
    failures.add(new HoldfastError('bad_input', 'No backend runs "s3cret", nor \'s3cret\'.'), now);
    failures.add(new Error('s3cret'), now);
    failures.add('s3cret', now);
    failures.add(
      new HoldfastError('host_lost', 'GET https://ada:s3cret@host/x of tok3n-value'),
      now,
    );
    const stops = new StopLog();
    const dead = {
      kind: 'dead',
      since: now,
      summary: 'It had to be stopped: bad frame: s3cret',
    } as const;
    stops.look([{ ...idle, state: dead }], now);
    const execution = { id: 'print(s3cret)', ownerId: 'chat:s3cret', queuedAt: now };
    const busy: SessionSnapshot = {
      ...idle,
      owners: [{ id: 's3cret', kind: 'fallback' }],
      privateTo: 'chat:s3cret',
      state: { kind: 'busy', since: now, execution },
      queue: [execution],
    };
    const settings = changedSettings((name) => {
      if (name === 'environment') return { A_TOKEN: 's3cret', B: 's3cret', 'C=s3cret': 's3cret' };
      if (name === 'agents.environment') return ['A_TOKEN', 'K=s3cret', 's3cret-as-a-value'];
      if (name === 'capacity') return 's3cret';
      return name === 'python.interpreter' ? '/home/ada/py/tok3n-value' : defaults[name];
    });
    const text = report(
      {
        sessions: [busy, { ...idle, state: dead }],
        stops: stops.all(now),
        failures: failures.all(),
        settings,
      },
      { MY_TOKEN: 'tok3n-value', SHELL: '/bin/sh' },
    );
    expect(text).not.toMatch(/s3cret|tok3n|Traceback|print|ada/);
    for (const said of [
      'holdfast.environment: 2: A_TOKEN, B',
      'holdfast.agents.environment: 2: A_TOKEN, (not a name)',
      'holdfast.capacity: not usable (string)',
      'holdfast.python.interpreter: "~/py/(secret)"',
      'interpreter_failed: ~/py failed. …',
      'session-1, process 4711: ended by itself: It had to be stopped: …',
      'host_lost: GET https://(secret)@host/x of (secret)',
    ])
      expect(text).toContain(said);
    expect(text).toMatch(/ Error\n {4}at .*diagnostics\.test\.ts:\d+/);
  });

  it('tells only settings that were changed', () => {
    expect(changedSettings((name) => defaults[name])).toEqual([]);
    const changed = changedSettings((name) => (name === 'capacity' ? 8 : defaults[name]));
    expect(changed).toEqual(['holdfast.capacity: 8']);
  });
});

describe('the last stops', () => {
  const stopping = (attempt: number, step?: 'ask' | 'terminate' | 'kill'): SessionSnapshot => ({
    ...idle,
    state: {
      kind: 'stopping',
      since: now,
      attempt,
      ...(step && { progress: { step, startedAt: now, deadline: now + 1_000 } }),
    },
  });

  it('have every step that was seen, and how long it took', () => {
    const stops = new StopLog();
    for (const step of [undefined, 'ask', 'ask', 'terminate', 'kill'] as const)
      stops.look([stopping(1, step)], now);
    expect(report({ stops: stops.all(now + 2_000) })).toContain(
      'session-1, process 4711: not over after 2 s; ask → terminate → kill',
    );
    stops.look([], now + 3_000);
    expect(report({ stops: stops.all(now + 9_000) })).toContain(
      'session-1, process 4711: over after 3 s; ask → terminate → kill',
    );
  });

  it('say why one is not confirmed, and keep it open until it is over', () => {
    const stops = new StopLog();
    const unconfirmed: SessionSnapshot = {
      ...idle,
      state: { kind: 'stopUnconfirmed', since: now, attempt: 2, reason: 'sleep (12) is there.' },
    };
    stops.look([unconfirmed], now);
    expect(stops.all(now)).toMatchObject([
      { end: 'unconfirmed', attempts: 2, reason: 'sleep (12) is there.' },
    ]);
    stops.look([idle], now + 1_000);
    expect(stops.all(now + 5_000)).toMatchObject([{ end: 'over', at: now + 1_000 }]);
  });

  it('tell each death once, and forget the oldest', () => {
    const stops = new StopLog();
    for (let each = 0; each < 30; each += 1) {
      const state = { kind: 'dead', since: now + each, summary: `SIGSEGV ${each}` } as const;
      stops.look([{ ...idle, state }], now);
      stops.look([{ ...idle, state }], now);
    }
    expect(stops.all(now)).toHaveLength(20);
    expect(stops.all(now).at(-1)?.reason).toBe('SIGSEGV 29');
  });
});
