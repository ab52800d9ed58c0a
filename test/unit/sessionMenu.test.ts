import { describe, expect, it } from 'vitest';
import { complaint, freeName } from '../../src/editor/sessions/names';
import { menuOf, type MenuContext, type MenuEntry } from '../../src/editor/sessions/sessionMenu';
import type { SessionSnapshot, SessionStateSnapshot } from '../../src/pool/types';

const session = (id: string, state: SessionStateSnapshot): SessionSnapshot =>
  ({ id, state, description: 'Python 3.11.7 (/usr/bin/python3)' }) as SessionSnapshot;
const idle: SessionStateSnapshot = { kind: 'idle', since: 0 };
const nothing: MenuContext = {
  current: undefined,
  isWaiting: false,
  others: [],
  isChosen: false,
  now: 0,
  labelOf: ({ id }) => id,
};

function idsOf(entries: readonly MenuEntry[]): string[] {
  return entries.map((entry) => (entry.kind === 'command' ? entry.id : entry.kind));
}

describe('the menu behind the status bar', () => {
  it('without a session offers to start one', () => {
    expect(idsOf(menuOf(nothing))).toEqual(['showPanel', 'showHelpers', 'separator', 'newSession']);
  });

  it.each<[SessionStateSnapshot, string[]]>([
    [{ kind: 'starting', since: 0 }, ['stop', 'kill']],
    [idle, ['restart', 'stop', 'kill']],
    [
      { kind: 'busy', since: 0, execution: { id: 'r', ownerId: undefined, queuedAt: 0 } },
      ['interrupt', 'restart', 'stop', 'kill'],
    ],
    [{ kind: 'stopping', since: 0, attempt: 1 }, ['forceKill', 'forget']],
    [{ kind: 'stopping', since: 0, attempt: 1, startsAnew: true }, ['forceKill']],
    [
      { kind: 'stopUnconfirmed', since: 0, attempt: 1, reason: '' },
      ['retryNow', 'forceKill', 'forget'],
    ],
    [{ kind: 'dead', since: 0, summary: '' }, ['restart', 'stop']],
  ])('in state %j offers %j, as the tree does', (state, commands) => {
    const ids = idsOf(menuOf({ ...nothing, current: session('s1', state) }));
    expect(ids.slice(0, ids.indexOf('showPanel'))).toEqual(commands);
  });

  it('offers to free a slot while the file’s session waits for one', () => {
    expect(idsOf(menuOf({ ...nothing, isWaiting: true }))[0]).toBe('freeSlot');
  });

  it('lists the sessions that the file could use, and the way back to its own', () => {
    const entries = menuOf({ ...nothing, others: [session('lab', idle)], isChosen: true });
    expect(entries).toContainEqual(
      expect.objectContaining({
        kind: 'use',
        label: '$(arrow-swap) Use lab',
        description: 'idle · Python 3.11.7',
      }),
    );
    expect(idsOf(entries).slice(-3)).toEqual(['use', 'useDefault', 'newSession']);
  });
});

describe('the name of a new session', () => {
  it('is the next free one beside the old one', () => {
    expect(freeName('lab', [])).toBe('lab 2');
    expect(freeName('lab', ['lab', 'lab 2'])).toBe('lab 3');
    expect(freeName('lab 2', ['lab', 'lab 2'])).toBe('lab 3');
  });

  it('is nobody else’s', () => {
    expect(complaint('lab', [])).toBeUndefined();
    expect(complaint('lab', ['lab'])).toContain('called lab already');
    expect(complaint('', [])).toContain('needs a name');
    expect(complaint('default', [])).toContain('needs a name');
  });
});
