import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/base/log';
import { deferred } from '../../../src/base/deferred';
import { chatWithId, someChat } from '../../../src/editor/agent/chat';
import { ChatOwners, type ChatOwnersParts } from '../../../src/editor/agent/chatOwners';
import { flush, ManualClock } from '../../support/manualClock';

const minute = 60_000;
const a = chatWithId('a');

function setUp(parts: Partial<ChatOwnersParts> = {}) {
  const clock = new ManualClock();
  const closed: string[] = [];
  const flushed: string[] = [];
  const chats = new ChatOwners({
    clock,
    log: silentLog,
    gracePeriodMs: () => Promise.resolve(5 * minute),
    holds: () => false,
    close(ownerId) {
      closed.push(ownerId);
      return Promise.resolve();
    },
    flush: (ownerId) => flushed.push(ownerId),
    ...parts,
  });
  const answer = async (chat = a): Promise<void> => (await chats.begin(chat)).dispose();
  return { chats, clock, closed, flushed, answer };
}

describe('a chat that the editor unloads', () => {
  it('keeps its hold for the grace period, and then lets go', async () => {
    const { chats, clock, closed, answer } = setUp();
    await answer();
    await chats.unloaded('a');
    expect(chats.letsGoAt('chat:a')).toBe(clock.now() + 5 * minute);
    await clock.advance(5 * minute - 1);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect(closed).toEqual(['chat:a']);
    expect(chats.knows('chat:a')).toBe(false);
  });

  it('takes its hold up again when it comes back, be it only to ask', async () => {
    const { chats, clock, closed, answer } = setUp();
    await answer();
    await chats.unloaded('a');
    chats.seen(a);
    expect(chats.letsGoAt('chat:a')).toBeUndefined();
    await clock.advance(10 * minute);
    await chats.unloaded('a');
    await clock.advance(minute);
    await answer();
    await clock.advance(10 * minute);
    expect(closed).toEqual([]);
  });

  it('counts from the first time, when it is told again', async () => {
    const { chats, clock, closed, answer } = setUp();
    await answer();
    await chats.unloaded('a');
    await clock.advance(4 * minute);
    await chats.unloaded('a');
    await clock.advance(minute);
    expect(closed).toEqual(['chat:a']);
  });

  it('that came back while the grace period was looked up is not let go of', async () => {
    const grace = deferred<number>();
    const { chats, clock, closed, answer } = setUp({ gracePeriodMs: () => grace.promise });
    await answer();
    const told = chats.unloaded('a');
    chats.deleted('a');
    await flush();
    await answer();
    grace.resolve(0);
    await told;
    await clock.advance(minute);
    expect(closed).toEqual(['chat:a']);
    expect(chats.letsGoAt('chat:a')).toBeUndefined();
  });

  it('lets go at once where the grace period is 0', async () => {
    const { chats, clock, closed, answer } = setUp({ gracePeriodMs: () => Promise.resolve(0) });
    await answer();
    await chats.unloaded('a');
    await clock.advance(0);
    expect(closed).toEqual(['chat:a']);
  });

  it('is no concern of ours if it never ran anything here', async () => {
    const { chats, clock, closed } = setUp();
    await chats.unloaded('a');
    chats.deleted('a');
    await clock.advance(10 * minute);
    expect(closed).toEqual([]);
  });

  it('lets go also of what it held in the window before', async () => {
    const { chats, clock, closed } = setUp({ holds: (ownerId) => ownerId === 'chat:a' });
    await chats.unloaded('a');
    await clock.advance(5 * minute);
    expect(closed).toEqual(['chat:a']);
  });
});

describe('a chat that is deleted', () => {
  it('lets go at once, and only once, loaded or not', async () => {
    const { chats, clock, closed, answer } = setUp();
    await answer();
    await answer(chatWithId('b'));
    await chats.unloaded('a');
    chats.deleted('a');
    chats.deleted('a');
    chats.deleted('b');
    await clock.advance(10 * minute);
    expect(closed).toEqual(['chat:a', 'chat:b']);
  });

  it('and comes back waits until it has let go, and begins anew', async () => {
    const over = deferred();
    const { chats, answer } = setUp({ close: () => over.promise });
    await answer();
    chats.deleted('a');
    let began = false;
    const again = chats.begin(a).then(() => (began = true));
    await flush();
    expect(began).toBe(false);
    over.resolve();
    await again;
    expect(chats.isStreaming('chat:a')).toBe(true);
  });

  it('begins anew also where not all could be let go of, which is logged', async () => {
    const errors: unknown[] = [];
    const { chats, answer } = setUp({
      close: () => Promise.reject(new Error('no pool')),
      log: { ...silentLog, error: (_message, error) => errors.push(error) },
    });
    await answer();
    chats.deleted('a');
    await answer();
    expect(errors).toMatchObject([{ message: 'no pool' }]);
  });

  it('is told once it has let go', async () => {
    const { chats, answer } = setUp();
    const told: string[] = [];
    chats.onDidClose((ownerId) => told.push(ownerId));
    await answer();
    chats.deleted('a');
    await flush();
    expect(told).toEqual(['chat:a']);
  });
});

describe('a chat that is being answered', () => {
  it('has its records wait until the last of its calls is over', async () => {
    const { chats, flushed } = setUp();
    const request = await chats.begin(a);
    const call = await chats.begin(a);
    expect(chats.isStreaming('chat:a')).toBe(true);
    expect(chats.isStreaming('chat:b')).toBe(false);
    request.dispose();
    request.dispose();
    expect(flushed).toEqual([]);
    call.dispose();
    expect(flushed).toEqual(['chat:a']);
    expect(chats.isStreaming('chat:a')).toBe(false);
  });

  it('that cannot be told from others is one owner for all of them', async () => {
    const { chats } = setUp();
    await chats.begin(someChat);
    expect(chats.knows('chat:unknown')).toBe(true);
  });
});
