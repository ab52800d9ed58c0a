import { afterUnconfirmed, type Surroundings } from './retryPolicy';

/** How a kernel is asked to go. */
export type StopMethod =
  | { readonly kind: 'limited'; readonly timeoutMs: number }
  | { readonly kind: 'unlimited' }
  /** At once and without asking, because a person said so. */
  | { readonly kind: 'kill' };

/** One try to stop a kernel. Numbers count from 1 since the stop was first wanted. */
interface Attempt {
  readonly number: number;
  readonly method: StopMethod;
}

/** Why a session's kernel is stopped to be followed by a new one. */
export type ReplaceReason = 'died' | 'restarted' | 'reset' | 'recycled' | 'stuck';

/**
 * What a session's kernel is doing; what it runs is the session's queue, apart from this. Times are ms since the
 * epoch. *Claimed* (reaping, stopping): on its way out, nobody can attach.
 */
export type SessionState =
  /** A slot is reserved and a start in flight. */
  | { readonly kind: 'starting'; readonly since: number }
  | { readonly kind: 'live'; readonly since: number }
  /** Its process has ended by itself; the next run replaces it. */
  | {
      readonly kind: 'dead';
      readonly since: number;
      readonly summary: string;
      /** The stop of the dead kernel was confirmed: a start may follow at once. */
      readonly cleared: boolean;
    }
  /** The old kernel is being stopped, and a new one follows in this session. */
  | {
      readonly kind: 'replacing';
      readonly since: number;
      readonly attempt: Attempt;
      readonly why: ReplaceReason;
    }
  /** Claimed during its start: whatever kernel arrives is shut down. */
  | {
      readonly kind: 'reaping';
      readonly since: number;
      readonly claimedAt: number;
      readonly method: StopMethod;
    }
  | {
      readonly kind: 'stopping';
      readonly since: number;
      readonly claimedAt: number;
      readonly attempt: Attempt;
      readonly failedUnlimited: number;
    }
  /** An attempt ended without evidence of exit; another follows. */
  | {
      readonly kind: 'unconfirmed';
      readonly since: number;
      readonly claimedAt: number;
      readonly attempt: Attempt;
      readonly failedUnlimited: number;
      readonly reason: string;
      /** `pressure`: also as soon as somebody waits for a slot. */
      readonly retryOn: 'pressure' | 'timer';
      readonly nextTryAt: number;
      /** `key`: the claim has ended, and a call for the key attaches again. `ownName`: it is on its way out for good. */
      readonly place: 'key' | 'ownName';
    }
  | { readonly kind: 'gone'; readonly since: number; readonly evidence: GoneBy };

/** What freed the slot. */
type GoneBy = 'exit' | 'neverStarted' | 'recovered' | 'forgotten';

type Fact =
  | { readonly type: 'started' }
  /** The start ended without a kernel. */
  | { readonly type: 'startFailed' }
  | { readonly type: 'attached' }
  /** Seen to be no longer alive, without anybody having stopped it. */
  | { readonly type: 'died'; readonly summary: string }
  /** The exit was observed by other means than an attempt's answer. */
  | { readonly type: 'exited' }
  | { readonly type: 'replace'; readonly why: ReplaceReason; readonly method: StopMethod }
  | { readonly type: 'claim'; readonly method: StopMethod }
  | { readonly type: 'confirmed' }
  /** The attempt in flight ended without evidence. */
  | {
      readonly type: 'unconfirmed';
      readonly reason: string;
      readonly surroundings: Surroundings;
      /** Of a replacement: the old kernel is known to be dead. */
      readonly dead: boolean;
    }
  /** Of a replacement: nobody waits for the new kernel any more. `cleared`: the old one's exit is confirmed. */
  | { readonly type: 'abandoned'; readonly summary: string; readonly cleared: boolean }
  | { readonly type: 'retryDue' }
  | { readonly type: 'pressure' }
  | { readonly type: 'dropped'; readonly by: 'recovered' | 'forgotten' };

/** What happened to a session. */
export type SessionFact = Fact;

type SessionEvent = Fact & { readonly at: number };

/** What the session does for a transition, in the order given. */
export type SessionEffect =
  | { readonly type: 'start' }
  | { readonly type: 'abortStart' }
  | { readonly type: 'shutdown'; readonly attempt: Attempt }
  | { readonly type: 'armRetry'; readonly afterMs: number }
  | { readonly type: 'disarmRetry' }
  /** The key is free for another session from here on. */
  | { readonly type: 'leaveKey' }
  | { readonly type: 'returnToKey' }
  /** Owners and queue go on in another session, with a slot of its own. */
  | { readonly type: 'moveOn' }
  | { readonly type: 'freeSlot' };

interface Step {
  readonly state: SessionState;
  readonly effects: readonly SessionEffect[];
}

type Handlers<State> = {
  readonly [T in Fact['type']]?: (
    state: State,
    event: Extract<Fact, { type: T }> & { readonly at: number },
  ) => Step;
};

type Table = {
  readonly [K in SessionState['kind']]: Handlers<Extract<SessionState, { kind: K }>>;
};

const step = (state: SessionState, ...effects: SessionEffect[]): Step => ({ state, effects });

const gone = (at: number, evidence: GoneBy, ...before: SessionEffect[]): Step =>
  step({ kind: 'gone', since: at, evidence }, ...before, { type: 'freeSlot' });

/** The first attempt on a kernel that was not claimed before. */
function claimed(at: number, method: StopMethod): Step {
  const attempt: Attempt = { number: 1, method };
  return step(
    { kind: 'stopping', since: at, claimedAt: at, attempt, failedUnlimited: 0 },
    { type: 'leaveKey' },
    { type: 'shutdown', attempt },
  );
}

function retried(
  state: Extract<SessionState, { kind: 'unconfirmed' }>,
  at: number,
  method: StopMethod,
): Step {
  const attempt: Attempt = { number: state.attempt.number + 1, method };
  const { claimedAt, failedUnlimited } = state;
  return step(
    { kind: 'stopping', since: at, claimedAt, attempt, failedUnlimited },
    { type: 'disarmRetry' },
    { type: 'leaveKey' },
    { type: 'shutdown', attempt },
  );
}

const replacing = (at: number, why: ReplaceReason, method: StopMethod): Step => {
  const attempt: Attempt = { number: 1, method };
  return step({ kind: 'replacing', since: at, attempt, why }, { type: 'shutdown', attempt });
};

const starting = (at: number): Step => step({ kind: 'starting', since: at }, { type: 'start' });

const unlimited: StopMethod = { kind: 'unlimited' };

/** A pair that is not in the table changes nothing: most are late facts of what is over. */
const table: Table = {
  starting: {
    started: (_, { at }) => step({ kind: 'live', since: at }),
    startFailed: (_, { at }) => gone(at, 'neverStarted', { type: 'leaveKey' }),
    claim: (_, { at, method }) =>
      step(
        { kind: 'reaping', since: at, claimedAt: at, method },
        { type: 'leaveKey' },
        { type: 'abortStart' },
      ),
  },
  live: {
    died: (_, { at, summary }) => step({ kind: 'dead', since: at, summary, cleared: false }),
    replace: (_, { at, why, method }) => replacing(at, why, method),
    claim: (_, { at, method }) => claimed(at, method),
  },
  dead: {
    replace: (state, { at, why, method }) =>
      state.cleared ? starting(at) : replacing(at, why, method),
    claim: (state, { at, method }) =>
      state.cleared ? gone(at, 'exit', { type: 'leaveKey' }) : claimed(at, method),
  },
  replacing: {
    confirmed: (_, { at }) => starting(at),
    abandoned: (_, { at, summary, cleared }) => step({ kind: 'dead', since: at, summary, cleared }),
    unconfirmed: (state, event) =>
      // The process of a dead kernel is gone: its slot serves the next one.
      event.dead ? starting(event.at) : stillStopping({ ...state, failedUnlimited: 0 }, event),
    claim: (state, { at }) =>
      step(
        {
          kind: 'stopping',
          since: state.since,
          claimedAt: at,
          attempt: state.attempt,
          failedUnlimited: 0,
        },
        { type: 'leaveKey' },
      ),
  },
  reaping: {
    started: (state, { at }) => {
      const attempt: Attempt = { number: 1, method: state.method };
      return step(
        { kind: 'stopping', since: at, claimedAt: state.claimedAt, attempt, failedUnlimited: 0 },
        { type: 'shutdown', attempt },
      );
    },
    startFailed: (_, { at }) => gone(at, 'neverStarted'),
    // Of two wishes the one without a limit is the stronger.
    claim: (state, { method }) => step(method.kind === 'limited' ? state : { ...state, method }),
    dropped: (_, { at, by }) => gone(at, by),
  },
  stopping: {
    confirmed: (_, { at }) => gone(at, 'exit'),
    exited: (_, { at }) => gone(at, 'exit'),
    unconfirmed: (state, event) => stillStopping(state, event),
    dropped: (_, { at, by }) => gone(at, by),
  },
  unconfirmed: {
    attached: (_, { at }) => step({ kind: 'live', since: at }, { type: 'disarmRetry' }),
    exited: (_, { at }) => gone(at, 'exit', { type: 'disarmRetry' }, { type: 'leaveKey' }),
    claim: (state, { at, method }) => retried(state, at, method),
    retryDue: (state, { at }) => retried(state, at, unlimited),
    pressure: (state, { at }) =>
      state.retryOn === 'pressure' ? retried(state, at, unlimited) : step(state),
    dropped: (_, { at, by }) => gone(at, by, { type: 'disarmRetry' }, { type: 'leaveKey' }),
  },
  gone: {},
};

function stillStopping(
  state: { readonly attempt: Attempt; readonly failedUnlimited: number } & (
    | { readonly kind: 'stopping'; readonly claimedAt: number }
    | { readonly kind: 'replacing'; readonly since: number }
  ),
  event: Extract<SessionEvent, { type: 'unconfirmed' }>,
): Step {
  const { attempt } = state;
  const { at, reason } = event;
  const claimedAt = state.kind === 'stopping' ? state.claimedAt : state.since;
  const failedUnlimited = state.failedUnlimited + (attempt.method.kind === 'limited' ? 0 : 1);
  const next = afterUnconfirmed(attempt.method.kind === 'limited', event.surroundings);
  switch (next.kind) {
    case 'retryNow': {
      const retry: Attempt = { number: attempt.number + 1, method: unlimited };
      return step(
        { kind: 'stopping', since: at, claimedAt, attempt: retry, failedUnlimited },
        { type: 'shutdown', attempt: retry },
      );
    }
    case 'retryLater': {
      const nextTryAt = at + next.afterMs;
      // A replacement's owners and queue go on elsewhere: this kernel is nobody's now.
      const place = state.kind === 'replacing' ? 'ownName' : next.place;
      const { retryOn } = next;
      return step(
        {
          kind: 'unconfirmed',
          since: at,
          claimedAt,
          attempt,
          failedUnlimited,
          reason,
          retryOn,
          nextTryAt,
          place,
        },
        { type: 'armRetry', afterMs: next.afterMs },
        ...(state.kind === 'replacing'
          ? [{ type: 'moveOn' } as const, { type: 'leaveKey' } as const]
          : []),
        ...(place === 'key' ? [{ type: 'returnToKey' } as const] : []),
      );
    }
  }
}

/** Pure: what follows from a fact at a time. The very same state and no effects, where nothing does. */
export function transition(state: SessionState, fact: SessionFact, at: number): Step {
  // The table pairs each kind with its own handlers; a lookup by two variables loses that for the compiler.
  const handlers = table[state.kind] as Handlers<SessionState>;
  const handler = handlers[fact.type] as
    ((state: SessionState, event: SessionEvent) => Step) | undefined;
  return handler ? handler(state, { ...fact, at }) : { state, effects: [] };
}

/** A call for its key joins it. */
export function isAttachable(state: SessionState): boolean {
  switch (state.kind) {
    case 'starting':
    case 'live':
    case 'dead':
    case 'replacing':
      return true;
    case 'unconfirmed':
      return state.place === 'key';
    case 'reaping':
    case 'stopping':
    case 'gone':
      return false;
  }
}

/** Draining, unconfirmed or awaiting a retry: the kernel is wanted gone, and not known to be. */
export function isLeaving(
  state: SessionState,
): state is Extract<SessionState, { kind: 'reaping' | 'stopping' | 'unconfirmed' }> {
  return state.kind === 'reaping' || state.kind === 'stopping' || state.kind === 'unconfirmed';
}
