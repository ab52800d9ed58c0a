import { describe, expect, it } from 'vitest';
import { afterUnconfirmed, blocksEviction, type Surroundings } from '../../../src/pool/retryPolicy';
import {
  isAttachable,
  isLeaving,
  transition,
  type SessionFact,
  type SessionState,
} from '../../../src/pool/sessionState';

const T = 1_000;
const limited = { kind: 'limited', timeoutMs: 2_000 } as const;
const unlimited = { kind: 'unlimited' } as const;
const roomy: Surroundings = {
  poolFull: false,
  keyTaken: false,
  takesNoCode: false,
  goneWanted: false,
  retryIntervalMs: 30_000,
};

const states = {
  starting: { kind: 'starting', since: 0 },
  live: { kind: 'live', since: 0 },
  dead: { kind: 'dead', since: 0, summary: '', cleared: false },
  cleared: { kind: 'dead', since: 0, summary: '', cleared: true },
  replacing: {
    kind: 'replacing',
    since: 0,
    attempt: { number: 1, method: unlimited },
    why: 'reset',
  },
  reaping: { kind: 'reaping', since: 0, claimedAt: 0, method: limited },
  stopping: {
    kind: 'stopping',
    since: 0,
    claimedAt: 0,
    attempt: { number: 1, method: limited },
    failedUnlimited: 0,
  },
  owed: {
    kind: 'unconfirmed',
    since: 0,
    claimedAt: 0,
    attempt: { number: 1, method: limited },
    failedUnlimited: 0,
    reason: '',
    retryOn: 'pressure',
    nextTryAt: 30_000,
    place: 'key',
  },
  gone: { kind: 'gone', since: 0, evidence: 'exit' },
} as const satisfies Record<string, SessionState>;

const facts = {
  started: { type: 'started' },
  startFailed: { type: 'startFailed' },
  attached: { type: 'attached' },
  died: { type: 'died', summary: 'x' },
  exited: { type: 'exited' },
  replace: { type: 'replace', why: 'reset', method: unlimited },
  claim: { type: 'claim', method: limited },
  confirmed: { type: 'confirmed' },
  unconfirmed: { type: 'unconfirmed', reason: 'r', dead: false, surroundings: roomy },
  unconfirmedFull: {
    type: 'unconfirmed',
    reason: 'r',
    dead: false,
    surroundings: { ...roomy, poolFull: true },
  },
  unconfirmedDead: { type: 'unconfirmed', reason: 'r', dead: true, surroundings: roomy },
  abandoned: { type: 'abandoned', summary: 'x', cleared: true },
  retryDue: { type: 'retryDue' },
  pressure: { type: 'pressure' },
  dropped: { type: 'dropped', by: 'forgotten' },
} as const satisfies Record<string, SessionFact>;

/** What each fact leads to; what is not named changes nothing. */
const expected: Record<keyof typeof states, Partial<Record<keyof typeof facts, string>>> = {
  starting: {
    started: 'live',
    startFailed: 'gone: leaveKey freeSlot',
    claim: 'reaping: leaveKey abortStart',
  },
  live: {
    died: 'dead',
    replace: 'replacing: shutdown',
    claim: 'stopping: leaveKey shutdown',
  },
  dead: { replace: 'replacing: shutdown', claim: 'stopping: leaveKey shutdown' },
  cleared: { replace: 'starting: start', claim: 'gone: leaveKey freeSlot' },
  replacing: {
    confirmed: 'starting: start',
    abandoned: 'dead',
    unconfirmed: 'unconfirmed: armRetry moveOn leaveKey',
    unconfirmedFull: 'unconfirmed: armRetry moveOn leaveKey',
    unconfirmedDead: 'starting: start',
    claim: 'stopping: leaveKey',
  },
  reaping: {
    started: 'stopping: shutdown',
    startFailed: 'gone: freeSlot',
    dropped: 'gone: freeSlot',
  },
  stopping: {
    confirmed: 'gone: freeSlot',
    exited: 'gone: freeSlot',
    unconfirmed: 'unconfirmed: armRetry returnToKey',
    unconfirmedDead: 'unconfirmed: armRetry returnToKey',
    unconfirmedFull: 'stopping: shutdown',
    dropped: 'gone: freeSlot',
  },
  owed: {
    attached: 'live: disarmRetry',
    exited: 'gone: disarmRetry leaveKey freeSlot',
    claim: 'stopping: disarmRetry leaveKey shutdown',
    retryDue: 'stopping: disarmRetry leaveKey shutdown',
    pressure: 'stopping: disarmRetry leaveKey shutdown',
    dropped: 'gone: disarmRetry leaveKey freeSlot',
  },
  gone: {},
};

function keysOf<K extends string>(record: Record<K, unknown>): K[] {
  return Object.keys(record) as K[];
}

describe('the session’s states', () => {
  const pairs = keysOf(states).flatMap((state) =>
    keysOf(facts).map((fact) => [state, fact, expected[state][fact]] as const),
  );

  it.each(pairs)('%s, %s: %s', (state, fact, outcome) => {
    const before: SessionState = states[state];
    const { state: after, effects } = transition(before, facts[fact], T);
    if (outcome === undefined) {
      expect(after).toBe(before);
      expect(effects).toEqual([]);
      return;
    }
    const told = [after.kind, effects.map(({ type }) => type).join(' ')].filter(Boolean).join(': ');
    expect(told).toBe(outcome);
    expect(after.since).toBe(fact === 'claim' && state === 'replacing' ? 0 : T);
  });

  it('a slot is freed only by evidence, or by letting go on purpose', () => {
    for (const [state, fact] of pairs) {
      const { state: after, effects } = transition(states[state], facts[fact], T);
      const isFreed = effects.some(({ type }) => type === 'freeSlot');
      expect(isFreed).toBe(after.kind === 'gone' && state !== 'gone');
      const evidence = ['startFailed', 'confirmed', 'exited', 'dropped'];
      if (isFreed) expect([...evidence, ...(state === 'cleared' ? ['claim'] : [])]).toContain(fact);
    }
  });

  it('counts attempts, and failed ones without a limit', () => {
    let state: SessionState = states.live;
    const seen: unknown[] = [];
    for (const fact of [
      facts.claim,
      facts.unconfirmedFull,
      facts.unconfirmed,
      facts.retryDue,
      facts.unconfirmed,
    ] as const) {
      state = transition(state, fact, T).state;
      if ('attempt' in state && 'failedUnlimited' in state) {
        seen.push([state.attempt.number, state.attempt.method.kind, state.failedUnlimited]);
      }
    }
    expect(seen).toEqual([
      [1, 'limited', 0],
      [2, 'unlimited', 0],
      [2, 'unlimited', 1],
      [3, 'unlimited', 1],
      [3, 'unlimited', 2],
    ]);
  });

  it('of two wishes during a start the one without a limit is the stronger', () => {
    const { state } = transition(states.reaping, { type: 'claim', method: unlimited }, T);
    expect(state).toMatchObject({ kind: 'reaping', method: unlimited });
    expect(transition(state, facts.claim, T).state).toBe(state);
  });

  it('pressure moves only what owes a retry for it', () => {
    const timed: SessionState = { ...states.owed, retryOn: 'timer' };
    expect(transition(timed, facts.pressure, T).state).toBe(timed);
  });

  it.each([
    ['starting', true, false],
    ['live', true, false],
    ['dead', true, false],
    ['replacing', true, false],
    ['reaping', false, true],
    ['stopping', false, true],
    ['owed', true, true],
    ['gone', false, false],
  ] as const)('%s: attachable %s, leaving %s', (state, attachable, leaving) => {
    expect([isAttachable(states[state]), isLeaving(states[state])]).toEqual([attachable, leaving]);
  });

  it('under its own name nobody attaches', () => {
    expect(isAttachable({ ...states.owed, place: 'ownName' })).toBe(false);
  });
});

describe('the retry policy', () => {
  const bits = [false, true];
  const cases = bits.flatMap((wasLimited) =>
    bits.flatMap((poolFull) =>
      bits.flatMap((goneWanted) =>
        bits.map((taken) => ({ wasLimited, poolFull, goneWanted, taken })),
      ),
    ),
  );

  it.each(cases)('%j', ({ wasLimited, poolFull, goneWanted, taken }) => {
    const around = { ...roomy, poolFull, goneWanted };
    const now = wasLimited && (poolFull || goneWanted);
    for (const more of [{ keyTaken: taken }, { takesNoCode: taken }]) {
      expect(afterUnconfirmed(wasLimited, { ...around, ...more })).toEqual(
        now
          ? { kind: 'retryNow' }
          : {
              kind: 'retryLater',
              afterMs: 30_000,
              retryOn: wasLimited ? 'pressure' : 'timer',
              place: taken ? 'ownName' : 'key',
            },
      );
    }
  });

  it.each([
    [0, 0, true],
    [2, 89_999, true],
    [3, 0, false],
    [0, 90_000, false],
    [undefined, 0, true],
  ])('after %s failed and %i ms it holds back eviction: %s', (failed, after, blocks) => {
    const stop = { claimedAt: T, ...(failed === undefined ? {} : { failedUnlimited: failed }) };
    expect(blocksEviction(stop, T + after)).toBe(blocks);
  });
});
