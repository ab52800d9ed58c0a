import { resultOf } from '../../support/executionResult';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OutlineEntry } from '../../../src/editor/panel/outline';
import { createTranscript, type Transcript } from '../../../src/editor/panel/transcript';
import type { EntryUpdate, Piece } from '../../../src/webview/protocol';
import { live, SESSION, startRun, stderr, stdout } from '../../support/panelHarness/scenes';

const read = (transcript: Transcript, key = SESSION): EntryUpdate[] =>
  transcript.reader(key).read().entries;

const piecesOf = (entry: EntryUpdate | undefined): Piece[] =>
  entry === undefined || entry.kind === 'note' ? [] : (entry.output?.pieces ?? []);

const textOf = (entry: EntryUpdate | undefined): string =>
  piecesOf(entry)
    .map((p) => (p.kind === 'text' ? p.text : `[${p.kind}]`))
    .join('');

let transcript = createTranscript();
afterEach(() => {
  transcript.dispose();
  transcript = createTranscript();
});

describe('the transcript of a session', () => {
  it('shows a run from its request to its end', () => {
    const reader = transcript.reader(SESSION);
    const run = startRun(transcript, 'x = 1', { owner: 'Copilot' });
    expect(reader.read().entries).toMatchObject([
      { kind: 'run', head: { state: 'running', owner: 'Copilot', code: 'x = 1' }, output: null },
    ]);
    run.put(stdout('hello\n'));
    expect(reader.read().entries).toMatchObject([
      { head: null, output: { pieces: [{ text: 'hello\n' }] } },
    ]);
    run.end();
    expect(reader.read().entries).toMatchObject([{ head: { state: 'ok' }, output: null }]);
    expect(reader.read().entries).toEqual([]);
  });

  it.each([
    ['ok', { result: resultOf() }],
    ['error', { result: resultOf({ exitCode: 1 }) }],
    ['cancelled', { result: resultOf({ exitCode: undefined, cancelled: true }) }],
    ['failed', { failure: 'No Python was found.' }],
  ])('a run may end as %s', (state, end) => {
    const { id } = startRun(transcript, 'x');
    transcript.finished(id, { at: 5, ...end });
    expect(read(transcript)).toMatchObject([{ head: { state, endedAt: 5 } }]);
  });

  it('a name is a name: only a run without one is the person’s', () => {
    const told: string[] = [];
    transcript.onDidChange(({ what }) => told.push(what));
    startRun(transcript, 'x', { owner: 'You' });
    expect(read(transcript)).toMatchObject([{ head: { owner: 'You' } }]);
    expect(told).not.toContain('ownRun');
    startRun(transcript, 'y', { owner: null });
    expect(told).toContain('ownRun');
  });

  it('a run may say why it ended', () => {
    const { id } = startRun(transcript, 'x');
    const result = resultOf({ exitCode: undefined, cancelled: true });
    transcript.finished(id, {
      at: 5,
      result: { ...result, notes: ['It ran for more than 5 seconds.'] },
    });
    expect(read(transcript)).toMatchObject([
      { head: { state: 'cancelled', remark: 'It ran for more than 5 seconds.' } },
    ]);
  });

  it('output that comes after the end stays with its run', () => {
    const first = startRun(transcript, 'start_thread()');
    first.end();
    const second = startRun(transcript, '1');
    first.put(stdout('late\n'));
    second.put(stdout('own\n'));
    expect(read(transcript).map(textOf)).toEqual(['late\n', 'own\n']);
  });

  it('also when its run is no longer kept: then it belongs to the session', () => {
    const first = startRun(transcript, 'start_thread()');
    first.end();
    transcript.clear(SESSION);
    first.put(stdout('late\n'));
    expect(read(transcript)).toMatchObject([
      { kind: 'loose', output: { pieces: [{ text: 'late\n' }] } },
    ]);
  });

  it('output of no run is shown in its place', () => {
    startRun(transcript, '1').end();
    transcript.sessionOutput(SESSION, stderr('a'));
    transcript.sessionOutput(SESSION, stderr('b'));
    transcript.note(SESSION, 'Kernel restarted');
    transcript.sessionOutput(SESSION, stderr('c'));
    expect(read(transcript).map(({ kind }) => kind)).toEqual(['run', 'loose', 'note', 'loose']);
    expect(read(transcript).map(textOf)).toEqual(['', 'ab', '', 'c']);
  });

  it('a display is updated in place, also from a later run', () => {
    const first = startRun(transcript, 'bar = display("0 %", display_id=True)');
    first.put({ type: 'display', data: { 'text/plain': '0 %' }, displayId: 'bar' });
    const second = startRun(transcript, 'bar.update("50 %")');
    second.put({ type: 'updateDisplay', displayId: 'bar', data: { 'text/plain': '50 %' } });
    expect(read(transcript)[0]).toMatchObject({
      output: { pieces: [{ data: { 'text/plain': '50 %' } }] },
    });
  });

  it('of a bundle only what will be drawn travels', () => {
    startRun(transcript, 'df').put({
      type: 'result',
      data: {
        'text/html': '<b>1</b>',
        'text/plain': '1',
        'application/vnd.x': 'big',
        'image/png': '',
      },
    });
    expect(read(transcript)).toMatchObject([
      {
        output: {
          pieces: [{ result: true, data: { 'text/html': '<b>1</b>', 'text/plain': '1' } }],
        },
      },
    ]);
  });

  it('clearing leaves what goes on, without its output so far', () => {
    startRun(transcript, 'done').end();
    const running = startRun(transcript, 'goes on');
    running.put(stdout('old\n'));
    const reader = transcript.reader(SESSION);
    const [done, kept] = reader.read().entries;
    transcript.clear(SESSION);
    running.put(stdout('new\n'));
    const reading = reader.read();
    expect(reading.removed).toEqual([done?.id]);
    expect(reading.entries).toMatchObject([
      { id: kept?.id, output: { clear: true, pieces: [{ text: 'new\n' }] } },
    ]);
  });

  it('the oldest finished runs go when there are too many, and are counted', () => {
    const bounded = createTranscript({ limits: { runs: 3 } });
    const going = startRun(bounded, 'going');
    const reader = bounded.reader(SESSION);
    for (let i = 0; i < 5; i++) startRun(bounded, `run ${i}`).end();
    const { entries, droppedRuns } = reader.read();
    expect(entries.map((entry) => entry.kind === 'run' && entry.head?.code)).toEqual([
      'going',
      'run 3',
      'run 4',
    ]);
    expect(droppedRuns).toBe(3);
    going.put(stdout('still here'));
    expect(textOf(reader.read().entries[0])).toBe('still here');
    bounded.dispose();
  });

  it('a session that is not in the pool yet is on its way; one that is gone stays readable', () => {
    startRun(transcript, '1');
    expect(transcript.sessions()).toMatchObject([{ key: SESSION, state: 'starting' }]);
    transcript.sessionChanged([live('busy')]);
    expect(transcript.sessions()).toEqual([live('busy')]);
    transcript.sessionChanged([]);
    expect(transcript.sessions()).toMatchObject([{ key: SESSION, state: 'gone' }]);
  });

  it('one of which only runs that are over are shown has ended, whether it was ever seen alive or not', () => {
    const run = startRun(transcript, '1');
    run.end();
    expect(transcript.sessions()).toMatchObject([{ key: SESSION, state: 'gone' }]);
    startRun(transcript, '2');
    expect(transcript.sessions()).toMatchObject([{ key: SESSION, state: 'starting' }]);
  });

  it('its outline is told of entry by entry, and restored elsewhere with the same places', () => {
    const told = new Map<number, OutlineEntry>();
    transcript.onDidChangeOutline(({ place, entry }) => {
      if (entry) told.set(place, entry);
      else told.delete(place);
    });
    const first = startRun(transcript, '1');
    transcript.note(SESSION, 'restarted');
    startRun(transcript, '2');
    first.end();
    expect([...told.values()]).toEqual(transcript.outline());
    expect([...told.values()]).toMatchObject([
      { kind: 'run', head: { code: '1', state: 'ok' } },
      { kind: 'note', text: 'restarted' },
      { kind: 'run', head: { code: '2', state: 'running' } },
    ]);
    const next = createTranscript();
    for (const entry of told.values()) next.restore(entry);
    expect(next.outline()).toEqual(transcript.outline());
    transcript.clear(SESSION);
    expect([...told.values()]).toMatchObject([{ head: { code: '2' } }]);
    next.dispose();
  });
});

describe('sessions that are gone', () => {
  const ranIn = (...keys: string[]): void => {
    for (const key of keys) startRun(transcript, key, { sessionKey: key }).end();
  };
  const kept = (): string[] => transcript.sessions().map(({ key }) => key);

  beforeEach(() => {
    transcript = createTranscript({ limits: { goneSessions: 2 } });
  });

  it('are forgotten in the order in which they last ran', () => {
    ranIn('default', 'a', 'b', 'default');
    transcript.sessionChanged([]);
    expect(kept()).toEqual(['b', 'default']);
  });

  it('and who reads them is told, when the list says so too', () => {
    ranIn('a', 'b', 'c', 'd');
    const told: unknown[] = [];
    transcript.onDidChange(({ what, sessionKey }) => {
      if (what === 'forgotten') told.push([sessionKey, kept()]);
    });
    transcript.sessionChanged([]);
    expect(told).toEqual([
      ['a', ['c', 'd']],
      ['b', ['c', 'd']],
    ]);
  });

  it('do not count as gone while they have a run that is not over', () => {
    const going = startRun(transcript, 'going', { sessionKey: 'new' });
    ranIn('a', 'b', 'c');
    transcript.sessionChanged([]);
    going.put(stdout('still here\n'));
    expect(kept()).toEqual(['new', 'b', 'c']);
    expect(read(transcript, 'new').map(textOf)).toEqual(['still here\n']);
  });

  it('none of them stay where none are asked for', () => {
    transcript = createTranscript({ limits: { goneSessions: 0 } });
    ranIn('a', 'b');
    transcript.sessionChanged([]);
    expect(kept()).toEqual([]);
  });
});

describe('a run asks for input', () => {
  const ask = (id: string, signal: AbortSignal, password = false): Promise<string | null> =>
    transcript.ask(id, { prompt: 'Name? ', password, signal });

  it('the answer goes to it and stands in the transcript', async () => {
    const { id } = startRun(transcript, 'input("Name? ")');
    const answer = ask(id, new AbortController().signal);
    const open = transcript.openAsk(SESSION);
    expect(open).toMatchObject({ prompt: 'Name? ', password: false });
    expect(transcript.openAsks).toBe(1);
    transcript.answer(open?.id ?? 0, 'Ada');
    expect(await answer).toBe('Ada');
    expect(transcript.openAsk(SESSION)).toBeNull();
    expect(read(transcript)).toMatchObject([
      { output: { pieces: [{ kind: 'answer', prompt: 'Name? ', text: 'Ada' }] } },
    ]);
  });

  it('a password is not kept', async () => {
    const { id } = startRun(transcript, 'getpass()');
    const answer = ask(id, new AbortController().signal, true);
    transcript.answer(transcript.openAsk(SESSION)?.id ?? 0, 'secret');
    expect(await answer).toBe('secret');
    expect(JSON.stringify(read(transcript))).not.toContain('secret');
  });

  it('an empty line is an answer, end of file is not', async () => {
    const { id } = startRun(transcript, 'input()');
    const line = ask(id, new AbortController().signal);
    transcript.answer(transcript.openAsk(SESSION)?.id ?? 0, '');
    const end = ask(id, new AbortController().signal);
    transcript.answer(transcript.openAsk(SESSION)?.id ?? 0, null);
    expect([await line, await end]).toEqual(['', null]);
  });

  it('an interrupted one is over', async () => {
    const { id } = startRun(transcript, 'input()');
    const interrupted = new AbortController();
    const answer = ask(id, interrupted.signal);
    interrupted.abort();
    expect(await answer).toBeNull();
    expect(transcript.openAsks).toBe(0);
    expect(await ask(id, AbortSignal.abort())).toBeNull();
  });
});

describe('a flood', () => {
  it('of 1,000,000 lines is read batch by batch, is bounded, and counted exactly', () => {
    const lines = Array.from({ length: 1_000_000 }, (_, i) => `${i}\n`).join('');
    const size = 64 * 1024;
    const batches = Array.from({ length: Math.ceil(lines.length / size) }, (_, i) =>
      lines.slice(i * size, (i + 1) * size),
    );
    const run = startRun(transcript, 'for i in range(1_000_000): print(i)');
    const reader = transcript.reader(SESSION);
    for (const batch of batches) {
      run.put(stdout(batch));
      const { entries } = reader.read();
      // Only what is new: the work for a batch depends on the batch, not on what came before it.
      expect(entries.map(textOf)).toEqual([batch]);
      const all = read(transcript)[0];
      expect(piecesOf(all).length).toBeLessThan(200);
      expect(textOf(all).length).toBeLessThan(2_000_000);
    }
    expect(read(transcript)).toMatchObject([
      { output: { totalLines: 1_000_000, totalBytes: lines.length } },
    ]);
  });
});
