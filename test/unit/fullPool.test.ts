import { describe, expect, it } from 'vitest';
import { FullPool, inOrderOfLoss } from '../../src/editor/sessions/fullPool';
import { mayEvict, ownerKind } from '../../src/editor/sessions/owners';
import { SessionBook } from '../../src/editor/sessions/sessionBook';
import { SessionsModel } from '../../src/editor/sessions/sessionsModel';
import { createKernelPool } from '../../src/pool/pool';
import type { SessionSnapshot } from '../../src/pool/types';
import { FakeKernel } from '../support/fakeKernel';
import { flush, ManualClock } from '../support/manualClock';

const me = 'window:me';

/** A pool of one slot with the product's policy, and a person who gives one answer to every question. */
function setUp(answer: string | undefined) {
  const clock = new ManualClock();
  const kernels: FakeKernel[] = [];
  const asked: string[] = [];
  const offered: string[][] = [];
  const calls: string[] = [];
  const onPick: (() => Promise<unknown>)[] = [];
  const book = new SessionBook();
  const model = new SessionsModel(clock);
  const pool = createKernelPool({
    capacity: 1,
    clock,
    ownerKind,
    mayEvict,
    startKernel(request) {
      const kernel = new FakeKernel(request);
      kernels.push(kernel);
      return Promise.resolve(kernel);
    },
  });
  model.attach(pool);
  const fullPool = new FullPool({
    ...{ ownerId: me, model, book, clock },
    prompts: {
      warn: () => Promise.resolve(undefined),
      inform(text) {
        asked.push(text);
        return Promise.resolve(answer);
      },
    },
    actions: {
      async stop(session) {
        calls.push(`stop ${session.cwd}`);
        await pool.stop(session.id);
      },
      forget: ({ cwd }) => Promise.resolve(void calls.push(`forget ${cwd}`)),
    },
    async pick(candidates) {
      offered.push(candidates.map(({ cwd }) => cwd));
      await onPick.shift()?.();
      return candidates[0];
    },
    changeLimit: () => Promise.resolve(void calls.push('changeLimit')),
    onFailure: (error) => calls.push(String(error)),
  });
  const run = (cwd: string, ownerId = me) =>
    pool.execute('', { cwd, sessionId: 'python:x', ownerId });
  const advance = async (ms: number): Promise<void> => {
    await flush();
    await clock.advance(ms);
  };
  return { advance, kernels, pool, fullPool, asked, offered, calls, onPick, run };
}

describe('a run of a person that waits for a slot', () => {
  it('says who has them, once, and frees the one that the person picks', async () => {
    const { advance, asked, offered, calls, run, kernels } = setUp('Free a Slot…');
    await run('/w/a');
    const waiting = run('/w/b');
    await advance(999);
    expect(asked).toEqual([]);
    await advance(10_000);
    expect(asked).toEqual(['b waits for a kernel slot: the only one is taken, by a.']);
    expect(offered).toEqual([['/w/a']]);
    expect(calls).toEqual(['stop /w/a']);
    expect((await waiting).exitCode).toBe(0);
    expect(kernels.map(({ request }) => request.cwd)).toEqual(['/w/a', '/w/b']);
  });

  it('goes by what a session is when the person has picked it', async () => {
    const { advance, calls, run, pool, onPick } = setUp('Free a Slot…');
    await run('/w/a');
    const waiting = run('/w/b');
    onPick.push(() => pool.stop('session-1'));
    await advance(2_000);
    expect((await waiting).exitCode).toBe(0);
    expect(calls).toEqual([]);
  });

  it('does not cost another session of the person without asking', async () => {
    const { advance, kernels, run, calls } = setUp(undefined);
    await run('/w/a');
    void run('/w/b');
    await advance(120_000);
    expect(kernels.map(({ sd }) => sd)).toEqual([0]);
    expect(calls).toEqual([]);
  });

  it('can lead to the limit', async () => {
    const { advance, calls, run } = setUp('Change the Limit');
    await run('/w/a');
    void run('/w/b');
    await advance(2_000);
    expect(calls).toEqual(['changeLimit']);
  });

  it('is not worth a word where a session that no window holds makes room by itself', async () => {
    const { advance, asked, run } = setUp(undefined);
    await run('/w/a', 'chat:7');
    expect((await run('/w/b')).exitCode).toBe(0);
    await advance(10_000);
    expect(asked).toEqual([]);
  });

  it('of somebody else is not this person’s to hear of', async () => {
    const { advance, asked, run } = setUp(undefined);
    await run('/w/a');
    void run('/w/b', 'chat:7');
    await advance(10_000);
    expect(asked).toEqual([]);
  });
});

it('nothing has to be stopped where there is room', async () => {
  const { fullPool, asked, offered } = setUp(undefined);
  await fullPool.freeSlot();
  expect(asked).toEqual(['There is a free slot: nothing has to be stopped.']);
  expect(offered).toEqual([]);
});

it('what is least missed comes first: the dead, then the idle by their last use; what stops goes by itself', () => {
  const states: SessionSnapshot['state'][] = [
    { kind: 'busy', since: 1, execution: { id: 'r', ownerId: me, queuedAt: 1 } },
    { kind: 'idle', since: 9 },
    { kind: 'stopping', since: 0, attempt: 1 },
    { kind: 'idle', since: 5 },
    { kind: 'stopUnconfirmed', since: 0, attempt: 1, reason: '' },
    { kind: 'dead', since: 20, summary: '' },
  ];
  const sessions = states.map((state, at) => ({ id: String(at), state }) as SessionSnapshot);
  expect(inOrderOfLoss(sessions).map(({ id }) => id)).toEqual(['5', '3', '1', '4', '0']);
});
