import { describe, expect, it } from 'vitest';
import { chooseSession, namedSessions } from '../../../src/editor/agent/sessionChoice';
import type { SessionSnapshot, SessionStateSnapshot } from '../../../src/pool/types';

function session(
  cwd: string,
  more: Partial<SessionSnapshot> = {},
  kind: 'idle' | 'dead' | 'stopping' = 'idle',
): SessionSnapshot {
  const state = { kind, since: 0, summary: '', attempt: 1 } as SessionStateSnapshot;
  return {
    id: cwd,
    sessionId: 'python:default',
    cwd,
    interpreter: undefined,
    incarnation: 1,
    state,
    owners: [],
    queue: [],
    pid: 1,
    description: undefined,
    memoryBytes: undefined,
    startedAt: 0,
    ...more,
  };
}

const named = (sessions: SessionSnapshot[]) =>
  namedSessions(sessions, 'chat:me', ({ cwd }) => cwd.split('/').at(-1) ?? '');

describe('positron 8727: bash sent to a Python session', () => {
  it('is refused, with the sessions that would do', () => {
    const sessions = named([session('/w/project'), session('/w/lab')]);
    expect(() => chooseSession({ language: 'bash', session: 'project' }, sessions)).toThrow(
      /runs no bash.*It runs Python.*"project" \(Python\), "lab" \(Python\).*terminal/,
    );
  });
});

describe('the session of a call', () => {
  it("is the developer's own where none is named, in whatever way the language is written", () => {
    for (const language of ['python', 'py', 'python3', 'ipython'])
      expect(chooseSession({ language, session: undefined }, [])).toBeUndefined();
    for (const language of ['constructor', '__proto__', 'r'])
      expect(() => chooseSession({ language, session: undefined }, [])).toThrow(/runs no/);
  });

  it('is found by its name; one whose kernel has died counts, one that stops does not', () => {
    const sessions = named([
      session('/w/a'),
      session('/w/b', {}, 'dead'),
      session('/w/c', {}, 'stopping'),
    ]);
    const choose = (name: string) => chooseSession({ language: 'python', session: name }, sessions);
    expect(choose('a')?.cwd).toBe('/w/a');
    expect(choose('b')?.cwd).toBe('/w/b');
    expect(() => choose('c')).toThrow(/no session "c"\. Sessions that would do: "a".*"b"/);
  });

  it('has a name of its own where two are called the same', () => {
    const names = named([session('/v/a'), session('/w/a'), session('/w/b')]).map(
      ({ name }) => name,
    );
    expect(new Set(names).size).toBe(3);
    expect(names).toContain('b');
  });

  it('is never the private one of another owner', () => {
    const sessions = [
      session('/w/a', { privateTo: 'chat:other' }),
      session('/w/b', { privateTo: 'chat:me' }),
    ];
    expect(named(sessions).map(({ name }) => name)).toEqual(['b']);
  });
});
