import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deferred } from '../../../src/base/deferred';
import { diskIn, type Disk } from '../../../src/editor/records/disk';
import { LeftOut } from '../../../src/editor/records/leftOut';
import { RecordActions } from '../../../src/editor/records/recordActions';
import { defaultLimits } from '../../../src/editor/records/limits';
import { sessionKeyOf } from '../../../src/editor/sessions/target';
import { openWindow, shownIn, small, temporaryFolder } from './world';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => fs.rmSync(path.dirname(folder), { recursive: true, force: true }));

const onDisk = (): string =>
  fs.existsSync(folder)
    ? fs
        .readdirSync(folder)
        .map((name) => fs.readFileSync(path.join(folder, name), 'utf8'))
        .join('')
    : '';

describe('a window after a restart', () => {
  it('lists the transcripts of before, and shows one when it is looked at', async () => {
    const before = openWindow(folder);
    before.run('a', { text: 'from before\n' });
    before.run('b', { key: 'other' });
    await before.records.flush();

    const after = openWindow(folder, { writer: 'w2' });
    expect(after.transcript.sessions()).toEqual([]);
    await after.records.list();
    const heads = after.transcript.sessions();
    expect(heads.map(({ key, state }) => [key, state])).toEqual(
      expect.arrayContaining([
        ['k', 'earlier'],
        ['other', 'earlier'],
      ]),
    );
    expect(heads[0]?.until).toBeGreaterThan(Date.now() - 60_000);
    await after.records.load('k');
    expect(shownIn(after)).toEqual(["print('a')", 'Earlier, until']);
    expect(JSON.stringify(after.transcript.reader('k').read())).toContain('from before');
    expect(after.transcript.sessions().map(({ state }) => state)).toEqual(['earlier', 'earlier']);
  });

  it('shows them before the new runs of the same session', async () => {
    const before = openWindow(folder);
    before.run('a');
    await before.records.flush();
    const after = openWindow(folder, { writer: 'w2' });
    after.run('b');
    await after.records.load('k');
    await after.records.load('k');
    expect(shownIn(after)).toEqual(["print('a')", 'Earlier, until', "print('b')"]);
    expect(after.transcript.sessions().map(({ state }) => state)).toEqual(['gone']);
  });

  it('after a reload no run is there twice, whoever tells of it first', async () => {
    const before = openWindow(folder);
    before.run('a');
    before.run('b');
    await before.records.flush();

    const replayedFirst = openWindow(folder, { writer: 'w2' });
    replayedFirst.run('b');
    await replayedFirst.records.load('k');
    expect(shownIn(replayedFirst)).toEqual(["print('a')", 'Earlier, until', "print('b')"]);

    const keptFirst = openWindow(folder, { writer: 'w3' });
    await keptFirst.records.load('k');
    keptFirst.run('b');
    expect(shownIn(keptFirst)).toEqual(["print('a')", 'Earlier, until', "print('b')"]);
    keptFirst.run('a');
    expect(shownIn(keptFirst)).toEqual(["print('b')", "print('a')"]);
    await keptFirst.records.flush();
    expect(onDisk().match(/"id":"a"/g)?.length).toBeGreaterThan(0);
    await replayedFirst.records.flush();

    const last = openWindow(folder, { writer: 'w4' });
    await last.records.load('k');
    expect(shownIn(last).filter((code) => code.startsWith('print'))).toHaveLength(2);
  });

  it('a damaged entry is told in the log, once, and the rest is shown', async () => {
    const before = openWindow(folder);
    before.run('a');
    await before.records.flush();
    const [name] = fs.readdirSync(folder);
    fs.appendFileSync(path.join(folder, name!), '{"what":"ru\n');
    const after = openWindow(folder, { writer: 'w2' });
    await after.records.load('k');
    expect(shownIn(after)).toEqual(["print('a')", 'Earlier, until']);
    expect(after.warnings).toEqual(['1 damaged entries of a kept transcript are left out.']);
  });
});

describe('what is kept', () => {
  it('has who asked, when, how it ended, and whether agents may see it', async () => {
    const window = openWindow(folder);
    window.run('a', { excludeFromContext: true });
    await window.records.flush();
    const [, line] = onDisk().split('\n');
    expect(JSON.parse(line!)).toMatchObject({
      ...{ id: 'a', origin: 'person', ownerId: 'window:1', owner: null, state: 'ok' },
      ...{ queuedAt: 1, startedAt: 2, endedAt: 3, excludeFromContext: true },
    });
  });

  it('is no end where the window closed while it ran', async () => {
    const window = openWindow(folder);
    window.run('a', { isLeftBehind: true });
    await window.records.flush();
    const after = openWindow(folder, { writer: 'w2' });
    await after.records.load('k');
    const { entries } = after.transcript.reader('k').read();
    expect(entries[0]).toMatchObject({ head: { state: 'left', startedAt: 2, endedAt: 3 } });
  });

  it('is nothing with the setting off, nor of a session that is left out', async () => {
    const window = openWindow(folder);
    window.mayKeep = false;
    window.run('a');
    await window.records.flush();
    window.mayKeep = true;
    window.leftOut.add('k');
    window.run('b');
    await window.records.flush();
    expect(onDisk()).toBe('');
    window.leftOut.clear();
    window.run('c');
    await window.records.flush();
    expect(onDisk()).toContain('"id":"c"');
  });

  it('a session is left out over a restart, until it is kept again', async () => {
    const values = new Map<string, unknown>([['holdfast.transcriptsLeftOut', 'nonsense']]);
    const store = {
      get: (key: string) => values.get(key),
      update: async (key: string, value: unknown) => void values.set(key, value),
    };
    await new LeftOut(store).set('k', true);
    const next = new LeftOut(store);
    expect([next.has('k'), next.has('other')]).toEqual([true, false]);
    await next.set('k', false);
    expect(new LeftOut(store).has('k')).toBe(false);
  });

  it('a run that was cleared from the panel before it was recorded is not kept', async () => {
    const window = openWindow(folder);
    window.run('a');
    window.transcript.clear('k');
    window.records.record({
      ...{ executionId: 'a', ownerId: 'chat:1', origin: 'chat', endedAt: 3 },
      ...{ excludeFromContext: false, output: '', exitCode: 0, cancelled: false },
    });
    await window.records.clear('k');
    await window.records.flush();
    expect(onDisk()).toBe('');
  });
});

describe('output after the end of a run', () => {
  const print = (text: string) => ({ type: 'stream', name: 'stdout', text }) as const;
  const lines = (): number => onDisk().match(/"id":"a"/g)?.length ?? 0;
  const textIn = (window: ReturnType<typeof openWindow>): string[] =>
    window.transcript
      .reader('k')
      .read()
      .entries.flatMap((entry) => (entry.kind === 'note' ? [] : (entry.output?.pieces ?? [])))
      .map((piece) => (piece.kind === 'text' ? piece.text : piece.kind));
  const later = async (writer: string) => {
    const window = openWindow(folder, { writer });
    await window.records.load('k');
    return window;
  };

  it('is kept with it, in order: its own, and what the session says that belongs to no run', async () => {
    const window = openWindow(folder);
    window.run('a');
    window.run('b');
    await window.records.flush();
    window.transcript.output('a', print('a, late\n'));
    window.transcript.sessionOutput('k', print('of a child\n'));
    window.transcript.note('k', 'a word of ours');
    window.transcript.sessionOutput('k', print('of a child again\n'));
    window.run('c');
    await window.records.flush();

    const after = await later('w2');
    expect(shownIn(after)).toEqual([
      ...["print('a')", "print('b')", 'loose', "print('c')", 'Earlier, until'],
    ]);
    expect(textIn(after)).toEqual([
      ...['a\na, late\n', 'b\n', 'of a child\nof a child again\n', 'c\n'],
    ]);
    expect(onDisk()).toContain('"origin":"person"');
  });

  it('is written at a pace, however much comes, and in the bounds of a run', async () => {
    const limits = { ...defaultLimits, outputBytes: 4_000 };
    const window = openWindow(folder, { limits });
    window.run('a');
    await window.records.flush();
    for (let i = 0; i < 500; i++) window.transcript.output('a', print(`late ${i}\n`));
    await window.clock.advance(9_999);
    await window.records.list();
    expect(lines()).toBe(1);
    await window.clock.advance(1);
    await window.records.list();
    expect(lines()).toBe(2);
    const [first = '', gap, last = ''] = textIn(await later('w2'));
    expect([first.startsWith('a\nlate 0\n'), gap]).toEqual([true, 'gap']);
    expect(last.endsWith('late 499\n')).toBe(true);
  });

  it('that comes while the disk is asked for the run is not lost', async () => {
    const disk = diskIn(folder);
    const { transcript, records, run } = openWindow(folder, {
      disk: {
        ...disk,
        read(name) {
          transcript.output('a', print('later\n'));
          return disk.read(name);
        },
      },
    });
    run('a');
    await records.flush();
    transcript.output('a', print('late\n'));
    await records.flush();
    expect(textIn(await later('w2'))).toEqual(['a\nlate\nlater\n']);
  });

  it('that clears or changes what was shown is kept as it is shown then', async () => {
    const window = openWindow(folder);
    window.run('a');
    window.transcript.output('a', { type: 'clear', wait: false });
    window.transcript.output('a', print('done\n'));
    await window.records.flush();
    expect(textIn(await later('w2'))).toEqual(['done\n']);
  });

  it('over a reload goes to the run that the window before has kept, with who asked for it', async () => {
    const before = openWindow(folder);
    before.run('a');
    before.transcript.sessionOutput('k', print('of a child\n'));
    await before.records.flush();

    const reloaded = openWindow(folder, { writer: 'w2' });
    const { transcript } = reloaded;
    transcript.begin({
      ...{ executionId: 'a', sessionKey: 'k', sessionLabel: 'k', code: "print('a')" },
      ...{ language: 'python', owner: null, queuedAt: 1 },
    });
    transcript.output('a', print('a\n'));
    transcript.finished('a', { at: 3 });
    transcript.sessionOutput('k', print('of a child\n'));
    transcript.output('a', print('a, late\n'));
    await reloaded.records.flush();
    await reloaded.records.load('k');
    expect(shownIn(reloaded)).toEqual(["print('a')", 'loose']);
    const after = await later('w3');
    expect(textIn(after)).toEqual(['a\na, late\n', 'of a child\n']);
    expect(onDisk().trimEnd().split('\n').at(-1)).toContain('"origin":"person"');
  });

  it('of a run that was cleared, or whose session is left out since, is not kept', async () => {
    const window = openWindow(folder);
    window.run('a');
    await window.records.flush();
    await window.records.clear();
    window.transcript.output('a', print('late\n'));
    await window.records.flush();
    expect(onDisk()).toBe('');
    window.run('b');
    await window.records.flush();
    window.leftOut.add('k');
    window.transcript.output('b', print('late\n'));
    await window.records.flush();
    expect(onDisk()).not.toContain('late');
  });
});

describe('a background run', () => {
  const keyOfRun = (id: string, cwd = '/w'): string =>
    sessionKeyOf({ sessionId: `python:background:${id}`, cwd });

  it('is found again under its name, with a way to its whole output as long as that is there', async () => {
    const artifact = path.join(folder, '..', 'whole.txt');
    fs.writeFileSync(artifact, 'all of it');
    const before = openWindow(folder);
    before.run('a', { key: keyOfRun('a'), artifact });
    await before.records.flush();
    const shownArtifact = async (writer: string) => {
      const window = openWindow(folder, { writer });
      await window.records.list();
      await window.records.load(keyOfRun('a'));
      expect(window.transcript.sessions()).toMatchObject([
        { key: keyOfRun('a'), label: `label of ${keyOfRun('a')}`, state: 'earlier' },
      ]);
      const [run] = window.transcript.reader(keyOfRun('a')).read().entries;
      return run?.kind === 'run' ? run.head : undefined;
    };
    expect(await shownArtifact('w2')).toMatchObject({
      ...{ artifact, state: 'ok', queuedAt: 1, startedAt: 2, endedAt: 3 },
    });
    fs.rmSync(artifact);
    expect(await shownArtifact('w3')).toMatchObject({ artifact: null, state: 'ok' });
  });

  it('pushes no session out, however many there are, and only so many stay', async () => {
    const window = openWindow(folder, { limits: small });
    window.run('a');
    for (let i = 0; i < 6; i++) {
      await window.records.flush();
      window.run(`r${i}`, { key: keyOfRun(`r${i}`) });
    }
    await window.records.flush();
    const kept = (await window.records.kept()).map(({ key }) => key);
    expect(kept).toHaveLength(1 + small.sessions);
    expect(kept).toContain('k');
  });

  it('is left out with a session of its folder and interpreter', async () => {
    const leftOut = new LeftOut({ get: () => undefined, update: async () => undefined });
    await leftOut.set(sessionKeyOf({ sessionId: 'python:default', cwd: '/w' }), true);
    expect([leftOut.has(keyOfRun('a')), leftOut.has(keyOfRun('a', '/other'))]).toEqual([
      true,
      false,
    ]);
    expect(leftOut.has(sessionKeyOf({ sessionId: 'python:mine', cwd: '/w' }))).toBe(false);
    await leftOut.set(sessionKeyOf({ sessionId: 'python:default', cwd: '/w' }), false);
    expect(leftOut.has(keyOfRun('a'))).toBe(false);
  });
});

describe('a disk', () => {
  it('that is slow is never waited for by a run', async () => {
    const open = deferred<void>();
    const disk: Disk = { ...diskIn(folder), prepare: () => open.promise };
    const window = openWindow(folder, { disk });
    for (let i = 0; i < 5; i++) window.run(`r${i}`);
    expect(shownIn(window)).toHaveLength(5);
    let isFlushed = false;
    const flushed = window.records.flush().then(() => (isFlushed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isFlushed).toBe(false);
    fs.mkdirSync(folder, { recursive: true });
    open.resolve();
    await flushed;
    expect(onDisk().match(/"what":"run"/g)).toHaveLength(5);
  });

  it('that fails is told of once; nothing is lost, and all is written when it works again', async () => {
    let fails = true;
    const real = diskIn(folder);
    const disk: Disk = {
      ...real,
      append: (...what) =>
        fails ? Promise.reject(new Error('no space left')) : real.append(...what),
    };
    const window = openWindow(folder, { disk });
    for (let i = 0; i < 4; i++) {
      window.run(`r${i}`);
      await window.records.flush();
    }
    expect(window.warnings).toEqual(['Runs cannot be kept for now: no space left']);
    expect(shownIn(window)).toHaveLength(4);
    fails = false;
    await window.records.flush();
    const after = openWindow(folder, { writer: 'w2' });
    await after.records.load('k');
    expect(shownIn(after).filter((code) => code.startsWith('print'))).toHaveLength(4);
  });

  it('that fails for long holds no more than the limit', async () => {
    const disk: Disk = {
      ...diskIn(folder),
      append: () => Promise.reject(new Error('no space left')),
    };
    const window = openWindow(folder, { disk, limits: { ...defaultLimits, waitingRuns: 3 } });
    for (let i = 0; i < 6; i++) window.run(`r${i}`);
    await window.records.flush();
    expect(window.warnings).toEqual([
      'Runs are not kept: the disk does not take those before them.',
      'Runs cannot be kept for now: no space left',
    ]);
  });

  it('that cannot be read leaves the panel as it is, with a line in the log', async () => {
    const disk: Disk = { ...diskIn(folder), list: () => Promise.reject(new Error('EIO')) };
    const window = openWindow(folder, { disk });
    window.run('a');
    await window.records.list();
    await window.records.load('k');
    expect(shownIn(window)).toEqual(["print('a')"]);
    expect(window.warnings).toContain('The kept transcripts cannot be reached: EIO');
  });
});

describe('Clear Kept Transcripts', () => {
  const asked: string[] = [];
  const actions = (window: ReturnType<typeof openWindow>, answer: string | undefined) => {
    asked.length = 0;
    const ask = async (text: string) => {
      asked.push(text);
      return answer;
    };
    return new RecordActions({
      transcript: window.transcript,
      leftOut: new LeftOut({ get: () => undefined, update: async () => undefined }),
      prompts: { warn: ask, inform: ask },
      records: async () => window.records,
    });
  };

  it('asks with the count, and then nothing of earlier is kept or shown; what this window ran is', async () => {
    const before = openWindow(folder);
    before.run('a');
    before.run('b', { key: 'other' });
    await before.records.flush();
    const window = openWindow(folder, { writer: 'w2' });
    window.run('c');
    await window.records.list();
    await window.records.load('k');

    await actions(window, undefined).clearAll();
    expect(asked).toEqual([
      expect.stringMatching(/^Clear the kept transcripts of 2 sessions \(\d+ kB\)\?/),
    ]);
    expect(onDisk()).not.toBe('');
    await actions(window, 'Clear').clearAll();
    expect(onDisk()).toBe('');
    expect(shownIn(window)).toEqual(["print('c')"]);
    expect(window.transcript.sessions().map(({ key }) => key)).toEqual(['k']);
    await actions(window, 'Clear').clearAll();
    expect(asked).toEqual(['No transcript is kept of this workspace.']);
  });

  it('a transcript that is no longer kept is said to be so, and may be cleared with it', async () => {
    const window = openWindow(folder);
    window.run('a');
    await window.records.flush();
    await actions(window, 'Clear').leaveOut('k', 'demo');
    expect(asked).toEqual([expect.stringContaining('The transcript of demo is no longer kept.')]);
    expect(shownIn(window).at(-1)).toBe('From here on, this transcript is not kept');
    expect(onDisk()).toBe('');
  });
});
