import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock';
import { PanelFeed } from '../../../src/editor/panel/feed';
import type { EarlierRun } from '../../../src/editor/panel/sessionTranscript';
import { createTranscript } from '../../../src/editor/panel/transcript';
import type { PanelUpdate } from '../../../src/webview/protocol';
import { parseToPanel } from '../../../src/webview/protocol';
import { live, SESSION, startRun, stdout } from '../../support/panelHarness/scenes';

let transcript: ReturnType<typeof createTranscript>;
let feed: PanelFeed;
let updates: PanelUpdate[];

beforeEach(() => {
  vi.useFakeTimers();
  updates = [];
  transcript = createTranscript();
  feed = new PanelFeed({
    transcript,
    clock: systemClock,
    runKey: 'Shift+Enter',
    post: (update) => updates.push(parseToPanel(update) as PanelUpdate),
  });
});

afterEach(() => {
  feed.dispose();
  transcript.dispose();
  vi.useRealTimers();
});

const textIn = (update: PanelUpdate | undefined): string => JSON.stringify(update?.entries ?? []);

describe('a page that comes to sight', () => {
  it('gets all of the shown session', () => {
    transcript.sessionChanged([live()]);
    startRun(transcript, 'x').put(stdout('before\n'));
    feed.connect();
    vi.advanceTimersByTime(0);
    expect(updates).toHaveLength(1);
    expect(updates[0]).toMatchObject({ reset: true, shown: SESSION, sessions: [live()] });
    expect(textIn(updates[0])).toContain('before');
  });

  it('gets nothing while it is hidden, and all of it again later', () => {
    feed.connect();
    vi.advanceTimersByTime(50);
    feed.disconnect();
    startRun(transcript, 'x').put(stdout('meanwhile\n'));
    vi.advanceTimersByTime(1_000);
    expect(updates).toHaveLength(1);
    feed.connect();
    vi.advanceTimersByTime(0);
    expect(updates[1]).toMatchObject({ reset: true });
    expect(textIn(updates[1])).toContain('meanwhile');
  });
});

describe('a page in sight', () => {
  beforeEach(() => {
    feed.connect();
    vi.advanceTimersByTime(100);
    feed.acknowledge(1);
    updates = [];
  });

  it('gets the first news at once and the next after 33 ms, together', () => {
    const run = startRun(transcript, 'x');
    vi.advanceTimersByTime(0);
    expect(updates).toHaveLength(1);
    run.put(stdout('a'));
    vi.advanceTimersByTime(20);
    run.put(stdout('b'));
    expect(updates).toHaveLength(1);
    vi.advanceTimersByTime(13);
    expect(updates).toHaveLength(2);
    expect(textIn(updates[1])).toContain('"ab"');
  });

  it('a slow one gets fewer and bigger updates, never a backlog', () => {
    const run = startRun(transcript, 'x');
    for (let i = 0; i < 10_000; i++) {
      run.put(stdout(`line ${i}\n`));
      vi.advanceTimersByTime(1);
    }
    expect(updates).toHaveLength(2);
    feed.acknowledge(updates[1]?.seq ?? 0);
    vi.advanceTimersByTime(0);
    expect(updates).toHaveLength(3);
    expect(textIn(updates[2])).toContain('line 9999');
    const all = updates.flatMap(({ entries }) => entries);
    const text = all
      .flatMap((entry) => (entry.kind === 'note' ? [] : (entry.output?.pieces ?? [])))
      .map((piece) => (piece.kind === 'text' ? piece.text : ''))
      .join('');
    expect(text.match(/\n/g)).toHaveLength(10_000);
  });

  it('an acknowledgement of what was never sent is ignored', () => {
    feed.acknowledge(1_000);
    const run = startRun(transcript, 'x');
    for (let i = 0; i < 10; i++) {
      run.put(stdout('y'));
      vi.advanceTimersByTime(40);
    }
    expect(updates).toHaveLength(2);
  });

  it('follows the person to the session of the own run, not to others’', () => {
    startRun(transcript, 'x');
    vi.advanceTimersByTime(40);
    startRun(transcript, 'y', { sessionKey: 'python:other', owner: 'Copilot' });
    vi.advanceTimersByTime(40);
    expect(feed.shown).toBe(SESSION);
    feed.acknowledge(updates.at(-1)?.seq ?? 0);
    startRun(transcript, 'z', { sessionKey: 'python:third' });
    vi.advanceTimersByTime(40);
    expect(updates.at(-1)).toMatchObject({ reset: true, shown: 'python:third' });
  });

  it('leaves a session that is forgotten, and shows the next run in it', () => {
    startRun(transcript, 'first').end();
    for (let i = 0; i < 9; i++) {
      startRun(transcript, 'x', { sessionKey: `python:${i}`, owner: 'Copilot' }).end();
    }
    vi.advanceTimersByTime(40);
    expect(feed.shown).toBe(SESSION);
    transcript.sessionChanged([]);
    expect(feed.shown).toBe('python:1');
    vi.advanceTimersByTime(40);
    feed.acknowledge(updates.at(-1)?.seq ?? 0);
    startRun(transcript, 'again');
    vi.advanceTimersByTime(40);
    expect(updates.at(-1)).toMatchObject({
      reset: true,
      shown: SESSION,
      entries: [{ head: { code: 'again' } }],
    });
  });

  it('says why nothing can be run', () => {
    feed.disableInput('Nothing runs until this workspace is trusted.');
    vi.advanceTimersByTime(40);
    expect(updates.at(-1)?.inputDisabled).toBe('Nothing runs until this workspace is trusted.');
  });
});

describe('what was kept of earlier', () => {
  const run = (executionId: string): EarlierRun => ({
    executionId,
    head: {
      ...{ code: 'before', language: 'python', source: null, owner: null, state: 'ok' },
      ...{ queuedAt: 1, startedAt: 1, endedAt: 2, remark: null, artifact: null },
    },
    pieces: [{ kind: 'text', name: 'stdout', text: 'kept\n' }],
    after: [],
    endedAt: 2,
  });

  it('is asked for when its session comes to sight, and not before', () => {
    const told: string[] = [];
    const lazyFeed = new PanelFeed({
      ...{ transcript, clock: systemClock, runKey: '' },
      post: () => undefined,
      onConnect: () => told.push('connected'),
      onShow: (key) => told.push(key),
    });
    startRun(transcript, 'x');
    transcript.setKept([{ key: 'old', label: 'old', until: 5 }]);
    expect(told).toEqual([]);
    lazyFeed.connect();
    lazyFeed.show('old');
    lazyFeed.show('old');
    expect(told).toEqual(['connected', SESSION, 'old']);
    lazyFeed.disconnect();
    lazyFeed.show(SESSION);
    expect(told).toHaveLength(3);
    lazyFeed.dispose();
  });

  it('starts the page over, as it stands before what is there', () => {
    startRun(transcript, 'x');
    feed.connect();
    vi.advanceTimersByTime(50);
    feed.acknowledge(updates.length);
    transcript.addEarlier(SESSION, [run('a')]);
    vi.advanceTimersByTime(50);
    expect(updates.at(-1)?.reset).toBe(true);
    expect(updates.at(-1)?.entries).toMatchObject([
      { kind: 'run', head: { code: 'before' }, output: { pieces: [{ text: 'kept\n' }] } },
      { kind: 'note', text: 'Earlier, until', at: 2, dated: true },
      { kind: 'run', head: { code: 'x' } },
    ]);
  });
});
