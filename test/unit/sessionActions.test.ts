import { describe, expect, it } from 'vitest';
import type { Prompts } from '../../src/editor/prompts';
import type { ActiveRun } from '../../src/editor/runs';
import { SessionActions } from '../../src/editor/sessions/sessionActions';
import { SessionBook } from '../../src/editor/sessions/sessionBook';
import { SessionsModel } from '../../src/editor/sessions/sessionsModel';
import { offerMoreThanInterrupts } from '../../src/editor/sessions/unheeded';
import type { InterruptVerdict } from '../../src/kernel/execution';
import type { ShutdownOutcome } from '../../src/kernel/kernel';
import type { KernelPool, SessionSnapshot, SessionStateSnapshot } from '../../src/pool/types';
import { flush, ManualClock } from '../support/manualClock';

const me = 'window:me';
const mine = { id: me, kind: 'explicit' } as const;
const chat = { id: 'chat:7', kind: 'explicit' } as const;
const busy: SessionStateSnapshot = {
  kind: 'busy',
  since: 0,
  execution: { id: 'r1', ownerId: me, queuedAt: 0, startedAt: 0 },
};

function session(more: Partial<SessionSnapshot> = {}): SessionSnapshot {
  return {
    id: 's1',
    sessionId: 'python:default',
    cwd: '/w/lab',
    interpreter: undefined,
    incarnation: 1,
    state: { kind: 'idle', since: 0 },
    owners: [mine],
    queue: [],
    pid: 4711,
    description: undefined,
    memoryBytes: undefined,
    startedAt: 0,
    ...more,
  };
}

/** The actions on a pool that notes what it is asked, and a person who gives one answer to everything. */
function setUp(sessions: SessionSnapshot[], answer?: string, outcome?: ShutdownOutcome) {
  const answers: (() => string)[] = [];
  const verdicts: (() => InterruptVerdict)[] = [];
  const calls: string[] = [];
  const asked: string[] = [];
  const notes: string[] = [];
  const listeners = new Set<() => void>();
  const note = (name: string) => (id: string, more?: string) => {
    calls.push([name, id, more].filter((each) => each !== undefined).join(' '));
    return Promise.resolve(outcome ?? { confirmed: true });
  };
  const pool = {
    sessions: () => sessions,
    capacity: () => ({ capacity: 4, counted: sessions.length, waiting: [] }),
    onDidChangeSessions(listener: () => void) {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    restart: note('restart'),
    stop: note('stop'),
    kill: note('kill'),
    forget: note('forget'),
    retryNow: note('retryNow'),
    releaseOwner: note('release'),
    disposeAll: () => note('disposeAll')(''),
    interrupt(id: string, executionId: string) {
      calls.push(`interrupt ${id} ${executionId}`);
      const delivered = { delivered: true, target: 'process group 4711' };
      return Promise.resolve(verdicts.shift()?.() ?? delivered);
    },
  } as unknown as KernelPool;
  const ask = (text: string, ...actions: string[]): Promise<string | undefined> => {
    asked.push(`${text} [${actions.join('] [')}]`);
    return Promise.resolve(answers.shift()?.() ?? answer);
  };
  const prompts: Prompts = { warn: ask, inform: ask };
  const run: ActiveRun = {
    executionId: 'r1',
    sessionKey: '',
    sessionLabel: 'lab',
    firstLine: 'train(model)',
    source: undefined,
    ownerId: 'window:1',
    inOwnKernel: false,
    startedAt: 0,
  };
  const runs = {
    get: (id: string) => (id === 'r1' ? run : undefined),
    inSession: () => [run],
    cancel: (id: string) => void calls.push(`cancel ${id}`),
    cancelAll: () => void calls.push('cancelAll'),
  };
  const clock = new ManualClock();
  const model = new SessionsModel(clock);
  model.attach(pool);
  const book = new SessionBook();
  const actions = new SessionActions({
    ...{ ownerId: me, model, book, runs, prompts },
    transcript: { note: (_key, text) => void notes.push(text) },
    stopBackground: async () => void calls.push('stopBackground'),
    pool: () => Promise.resolve(pool),
  });
  const change = async (): Promise<void> => {
    listeners.forEach((listener) => listener());
    await clock.advance(1_000);
    await flush();
  };
  return { actions, answers, verdicts, calls, asked, notes, model, book, runs, prompts, change };
}

describe('ending a session', () => {
  it('that nobody else holds asks nothing, and says that the end is confirmed', async () => {
    const { actions, calls, asked, notes } = setUp([session()]);
    await actions.stop(session());
    await actions.kill(session());
    await actions.restart(session());
    expect(calls).toEqual(['stop s1', 'kill s1', 'restart s1']);
    expect(asked).toEqual([]);
    expect(notes).toEqual([
      'Session stopped: its end is confirmed.',
      'Kernel killed: its end is confirmed.',
      'Kernel restarted: its variables are gone.',
    ]);
  });

  it.each(['Stop', 'Kill', 'Restart'])(
    'that others hold says whom %s would hit and what runs, before',
    async (action) => {
      const shared = session({ owners: [mine, chat], state: busy });
      for (const answer of [undefined, 'Cancel', action]) {
        const { actions, calls, asked } = setUp([shared], answer);
        await { Stop: actions.stop, Kill: actions.kill, Restart: actions.restart }[action]?.call(
          actions,
          shared,
        );
        expect(asked).toEqual([
          `lab is also held by Chat 7. It runs: train(model) [${action}] [Cancel]`,
        ]);
        expect(calls.length).toBe(answer === action ? 1 : 0);
      }
    },
  );

  it('asks again where somebody has joined since the click, or while the question stood', async () => {
    const sessions = [session({ owners: [mine, chat] })];
    const { actions, asked, calls, answers } = setUp(sessions);
    const other = { id: 'chat:8', kind: 'explicit' } as const;
    answers.push(
      () => {
        sessions[0] = session({ owners: [mine, chat, other] });
        return 'Stop';
      },
      () => 'Stop',
    );
    await actions.stop(session());
    expect(asked).toEqual([
      'lab is also held by Chat 7. [Stop] [Cancel]',
      'lab is also held by Chat 7, Chat 8. [Stop] [Cancel]',
    ]);
    expect(calls).toEqual(['stop s1']);
  });

  it('whose owners have left already hits nobody', async () => {
    const { actions, asked } = setUp([]);
    await actions.stop(session({ owners: [{ ...chat, kind: 'departed' }] }));
    expect(asked).toEqual([]);
  });

  it('that is not confirmed says so with the reason', async () => {
    const outcome = { confirmed: false, reason: 'No exit was seen.' };
    const { actions, asked, notes } = setUp([session()], undefined, outcome);
    await actions.retryNow(session());
    expect(notes).toEqual([]);
    expect(asked[0]).toContain('not confirmed that the kernel of lab has ended. No exit was seen.');
  });

  it('by forgetting it says what that means first', async () => {
    for (const answer of ['Cancel', 'Forget']) {
      const { actions, calls, asked } = setUp([session()], answer);
      await actions.forget(session());
      expect(asked[0]).toMatch(/process 4711 may go on running.*takes no slot/);
      expect(calls).toEqual(answer === 'Forget' ? ['forget s1'] : []);
    }
  });

  it('all of them names those that others hold', async () => {
    const { actions, calls, asked } = setUp([session(), session({ owners: [chat] })], 'Cancel');
    await actions.stopAll();
    expect(asked).toEqual(['Others hold these sessions too: lab (Chat 7). [Stop All] [Cancel]']);
    expect(calls).toEqual([]);
  });

  it('all of them cancels the runs first, also those that wait or have a kernel of their own', async () => {
    const { actions, calls } = setUp([session()]);
    await actions.stopAll();
    expect(calls).toEqual(['cancelAll', 'disposeAll ', 'stopBackground']);
  });
});

describe('an interrupt that does not arrive', () => {
  const next: SessionStateSnapshot = { ...busy, execution: { ...busy.execution, id: 'r2' } };
  const verdict = { delivered: false, target: 'its process', reason: 'It is stopped.' };

  async function interrupted(before?: SessionStateSnapshot, during = before) {
    const sessions = [session({ state: busy })];
    const world = setUp(sessions);
    const change = (state: SessionStateSnapshot | undefined): void => {
      if (state) sessions[0] = session({ state });
    };
    world.verdicts.push(() => (change(before), verdict));
    world.answers.push(() => (change(during), 'Kill'));
    await world.actions.interruptRun(session({ state: busy }), 'r1');
    return world;
  }

  it('says so, and offers the kill', async () => {
    const { asked, calls } = await interrupted();
    expect(asked).toEqual(['The interrupt did not reach its process. It is stopped. [Kill]']);
    expect(calls).toEqual(['interrupt s1 r1', 'kill s1']);
  });

  it('because the run is over is not worth a word', async () => {
    const { asked, calls } = await interrupted(next);
    expect([asked, calls]).toEqual([[], ['interrupt s1 r1']]);
  });

  it('does not hit the next run when the answer comes late', async () => {
    expect((await interrupted(undefined, next)).calls).toEqual(['interrupt s1 r1']);
  });
});

describe('releasing an owner', () => {
  it('asks nothing for this window, which knows what it does', async () => {
    const { actions, calls, asked } = setUp([]);
    await actions.release(session({ owners: [mine, chat] }), me);
    expect([asked, calls]).toEqual([[], ['release s1 window:me']]);
  });

  it('of somebody else says what becomes of the session', async () => {
    const { actions, calls, asked } = setUp([], 'Release');
    await actions.release(session({ owners: [mine, chat] }), chat.id);
    await actions.release(session({ owners: [chat], state: busy }), chat.id);
    expect(asked).toEqual([
      'Chat 7 holds lab. It goes on for This window. [Release] [Cancel]',
      'Chat 7 holds lab. Nobody else does: its kernel stops. It runs: train(model) [Release] [Cancel]',
    ]);
    expect(calls).toEqual(['release s1 chat:7', 'release s1 chat:7']);
  });
});

describe('an interrupt that is not heeded', () => {
  const unheeded: SessionStateSnapshot = {
    ...busy,
    execution: { ...busy.execution, interruptedAt: 1, unheeded: true },
  };

  async function offered(answer: string | undefined, later: SessionStateSnapshot = unheeded) {
    const sessions = [session({ state: unheeded })];
    const world = setUp(sessions, answer);
    const failures: unknown[] = [];
    const prompts: Prompts = {
      ...world.prompts,
      warn(...question) {
        const answered = world.prompts.warn(...question);
        sessions[0] = session({ state: later });
        return answered;
      },
    };
    offerMoreThanInterrupts({ ...world, prompts, onFailure: (error) => failures.push(error) });
    await world.change();
    await world.change();
    expect(failures).toEqual([]);
    return world;
  }

  it('is spoken of once, with what else there is', async () => {
    const { asked, calls } = await offered(undefined);
    expect(asked).toEqual([
      'The run in lab has not heeded the interrupt. [Interrupt Again] [Kill]',
    ]);
    expect(calls).toEqual([]);
  });

  it('is repeated, or followed by the kill, as the person says', async () => {
    expect((await offered('Interrupt Again')).calls).toEqual(['interrupt s1 r1']);
    expect((await offered('Kill')).calls).toEqual(['kill s1']);
  });

  it('does not hit the next run when the answer comes late', async () => {
    const next: SessionStateSnapshot = { ...busy, execution: { ...busy.execution, id: 'r2' } };
    expect((await offered('Kill', next)).calls).toEqual([]);
    expect((await offered('Interrupt Again', next)).calls).toEqual([]);
  });
});
