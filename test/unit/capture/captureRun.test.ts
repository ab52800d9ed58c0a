import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock';
import { deferred } from '../../../src/base/deferred';
import { Emitter } from '../../../src/base/event';
import { silentLog } from '../../../src/base/log';
import { Baseline } from '../../../src/editor/capture/baseline';
import { captureRun, type CaptureRunParts } from '../../../src/editor/capture/captureRun';
import { captureLimits } from '../../../src/editor/capture/limits';
import type { CaptureRecord } from '../../../src/editor/capture/record';
import { CaptureStore } from '../../../src/editor/capture/store';
import { capturedInWords, changesInWords, endInWords } from '../../../src/editor/capture/words';
import { Door } from '../../../src/editor/door';
import { createTranscript } from '../../../src/editor/panel/transcript';
import { Runs } from '../../../src/editor/runs';
import type { SessionTarget } from '../../../src/editor/sessions/target';
import type { ExecutionResult, SessionSnapshot } from '../../../src/pool/types';
import { createAdmission } from '../../../src/runner/admission';
import { admitted } from '../../../src/runner/admitted';
import type { ExecuteOptions } from '../../../src/runner/runner';
import { resultOf } from '../../support/executionResult';
import { temporaryFolder, write } from '../../support/temporaryFolder';

const target: SessionTarget = {
  language: 'python',
  sessionId: 'python:default',
  cwd: '/w',
  interpreter: undefined,
  label: 'w',
};

/** A window whose kernel is `execute`, with the door, the admission and the files for real. */
function setUp(
  execute: (code: string, options: ExecuteOptions) => Promise<ExecutionResult>,
  files: Record<string, string> = {},
) {
  const root = temporaryFolder(files);
  const storage = temporaryFolder();
  const admission = createAdmission({ captureEnabled: true });
  const door = new Door({
    execute: admitted(admission, execute),
    disposers: [],
    isStreaming: () => false,
    record() {},
    log: silentLog,
  });
  let ids = 0;
  const runs = new Runs({
    ownerId: 'window:1',
    clock: systemClock,
    transcript: createTranscript(),
    newId: () => `run-${++ids}`,
    assertAllowed() {},
    door,
    resolve: () => Promise.resolve(target),
    mode: () => Promise.resolve('session'),
    onBegin() {},
    onFailure() {},
  });
  const baseline = new Baseline(root, storage, captureLimits);
  onTestFinished(() => baseline.dispose());
  const saved = new Emitter<string>();
  const store = new CaptureStore(path.join(storage, 'captures'));
  const parts: CaptureRunParts = {
    ...{ admission, runs, store },
    model: { sessions: () => [] },
    folders: [{ path: root, baseline, excluded: [] }],
    onSave: saved.event,
    during: (_, work) => work(new AbortController().signal),
    now: Date.now,
  };
  return { root, admission, runs, saved, store, parts };
}

const request = { code: 'write()', to: target, source: { file: '/w/a.py', line: 3 } };

describe('a run with capture', () => {
  it('keeps where the changes come from, and gives it back', async () => {
    const world = setUp(
      (code) => {
        write(world.root, { 'a.txt': code, 'b.txt': 'new' });
        return Promise.resolve(resultOf());
      },
      { 'a.txt': 'old' },
    );
    const record = await captureRun(request, world.parts);
    expect(record).toMatchObject({
      code: 'write()',
      source: { file: '/w/a.py', line: 3 },
      executionId: 'run-1',
      session: { label: 'w' },
      exitCode: 0,
      files: [
        { folder: world.root, path: 'a.txt', kind: 'changed', before: { isKept: true } },
        { folder: world.root, path: 'b.txt', kind: 'created' },
      ],
    });
    expect(await world.store.list()).toEqual([record]);
    const [changed] = record.files;
    expect(await world.store.text(record.id, changed?.before?.sha256 ?? '')).toBe('old');
    expect(await world.store.text(record.id, changed?.after?.sha256 ?? '')).toBe('write()');
    expect(changesInWords(record.files)).toBe('1 created, 1 changed');
    expect(endInWords(record)).toBe('The run is over: 2 files (1 created, 1 changed).');
    expect(capturedInWords(record)).toBe(
      'Captured: 2 files (1 created, 1 changed), see Show Captured Changes',
    );
    expect(capturedInWords({ ...record, files: [] })).toBe('Captured: no file changed');
  });

  it('keeps the session and its incarnation, and when the run began and ended', async () => {
    const sessions: SessionSnapshot[] = [];
    const world = setUp(async (_, { executionId, onStart }) => {
      const state = { kind: 'busy', since: 0, execution: { id: executionId, queuedAt: 0 } };
      sessions.push({ id: 's7', incarnation: 3, state } as unknown as SessionSnapshot);
      onStart?.();
      await Promise.resolve();
      sessions.length = 0;
      return resultOf();
    });
    let time = 1_000;
    const parts = { ...world.parts, model: { sessions: () => sessions }, now: () => (time += 500) };
    expect(await captureRun(request, parts)).toMatchObject({
      session: { id: 's7', incarnation: 3, label: 'w' },
      ...{ startedAt: 1_500, endedAt: 2_000 },
    });
  });

  it('has the SHA-256 of a file as it was and as it is', async () => {
    const world = setUp(
      () => {
        write(world.root, { 'a.txt': 'abc' });
        fs.rmSync(path.join(world.root, 'gone.txt'));
        return Promise.resolve(resultOf());
      },
      { 'a.txt': '', 'gone.txt': 'abc' },
    );
    const { files } = await captureRun(request, world.parts);
    // Those of NIST, for no bytes and for "abc".
    const none = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(files.map(({ before, after }) => [before?.sha256, after?.sha256])).toEqual([
      [none, abc],
      [abc, undefined],
    ]);
  });

  it('marks what the editor saved meanwhile', async () => {
    const world = setUp(() => {
      write(world.root, { 'in/mine.py': '', 'its.txt': '' });
      world.saved.fire(path.join(world.root, 'in/mine.py'));
      return Promise.resolve(resultOf());
    });
    const { files } = await captureRun(request, world.parts);
    expect(files.map((file) => [file.path, file.isSavedInEditor])).toEqual([
      ['in/mine.py', true],
      ['its.txt', undefined],
    ]);
  });

  it('is refused while another run of the window is active, and nothing is run', async () => {
    const first = deferred<ExecutionResult>();
    const ran: string[] = [];
    const world = setUp((code) => {
      ran.push(code);
      return code === 'first' ? first.promise : Promise.resolve(resultOf());
    });
    const going = world.runs.perform({ code: 'first', to: target });
    await expect.poll(() => ran).toEqual(['first']);
    await expect(captureRun(request, world.parts)).rejects.toMatchObject({ code: 'capture_busy' });
    first.resolve(resultOf());
    await going;
    await captureRun(request, world.parts);
    expect(ran).toEqual(['first', 'write()']);
  });

  it('is refused beside a run of the window before this one, which asked nobody', async () => {
    const world = setUp(() => Promise.resolve(resultOf()));
    const state = { kind: 'busy', since: 0, execution: { id: 'x', queuedAt: 0 } } as const;
    const busy = { state } as unknown as ReturnType<CaptureRunParts['model']['sessions']>[number];
    const parts = { ...world.parts, model: { sessions: () => [busy] } };
    await expect(captureRun(request, parts)).rejects.toMatchObject({ code: 'capture_busy' });
  });

  it('is refused while background runs or edits go on, and admitted after', async () => {
    const world = setUp(() => Promise.resolve(resultOf()));
    const lease = await world.admission.background();
    await expect(captureRun(request, world.parts)).rejects.toMatchObject({ code: 'capture_busy' });
    await lease.release();
    await world.admission.externalMutation(async () => {
      await expect(captureRun(request, world.parts)).rejects.toMatchObject({
        code: 'capture_busy',
      });
    });
    await captureRun(request, world.parts);
  });

  it("lets the person's next run wait for it", async () => {
    const order: string[] = [];
    const world = setUp((code) => {
      order.push(code);
      return Promise.resolve(resultOf());
    });
    const begun = deferred();
    const next = begun.promise.then(() => world.runs.perform({ code: 'next', to: target }));
    const parts: CaptureRunParts = {
      ...world.parts,
      during: async (title, work) => {
        begun.resolve();
        order.push(title);
        return work(new AbortController().signal);
      },
    };
    await captureRun(request, parts);
    await next;
    expect(order).toEqual([
      'Looking at the files of the workspace…',
      'Running with capture…',
      'write()',
      'Looking for what the run changed…',
      'next',
    ]);
  });

  it('that was cancelled is kept with what it had done; one called off before runs nothing', async () => {
    const controller = new AbortController();
    const world = setUp((_, { signal }) => {
      write(world.root, { half: '' });
      controller.abort();
      return Promise.resolve(resultOf({ exitCode: undefined, cancelled: signal.aborted }));
    });
    const during: CaptureRunParts['during'] = (title, work) =>
      work(title.startsWith('Running') ? controller.signal : new AbortController().signal);
    const record = await captureRun(request, { ...world.parts, during });
    expect(record.files.map(({ path: name }) => name)).toEqual(['half']);
    expect(endInWords(record)).toBe('The run was cancelled: 1 file (1 created).');

    const reason = new Error('left');
    const leave: CaptureRunParts['during'] = (_, work) => work(AbortSignal.abort(reason));
    const left = captureRun(request, { ...world.parts, during: leave });
    await expect(left).rejects.toBe(reason);
    expect((await world.store.list()).length).toBe(1);
  });

  it('that could not be run is kept with the reason', async () => {
    const world = setUp(() => Promise.reject(new Error('No Python here.')));
    const record = await captureRun(request, world.parts);
    expect(record).toMatchObject({ failure: 'No Python here.', files: [] });
    expect(record.exitCode).toBeUndefined();
  });

  it('whose changes cannot be found, or are not waited for, is kept with a note', async () => {
    const world = setUp(() => Promise.resolve(resultOf()));
    const [folder] = world.parts.folders;
    if (!folder) throw new Error('There is one.');
    const failing = { ...folder.baseline, refresh: () => Promise.resolve() };
    failing.changes = () => Promise.reject(new Error('The thread of the capture has ended.'));
    const folders = [{ ...folder, baseline: failing }];
    const unknown = await captureRun(request, { ...world.parts, folders });
    expect(unknown.notes).toEqual([
      `What the run changed in ${world.root} is not known: The thread of the capture has ended.`,
    ]);

    const during: CaptureRunParts['during'] = (title, work) =>
      work(title.endsWith('changed…') ? AbortSignal.abort() : new AbortController().signal);
    const left = await captureRun(request, { ...world.parts, during });
    expect(endInWords(left)).toBe(
      'The run is over: no changed file was seen. The look for what the run changed was cancelled; changes are missing.',
    );
    expect((await world.store.list()).length).toBe(2);
  });
});

function recordOf(id: string): CaptureRecord {
  return {
    ...{ version: 1, id, code: '', language: 'python', executionId: '' },
    ...{ session: { label: '' }, startedAt: 0, endedAt: 0, files: [], notes: [] },
  };
}

describe('what captures have kept', () => {
  it('is no more than fits: the oldest make room', async () => {
    const folder = path.join(temporaryFolder(), 'captures');
    const store = new CaptureStore(folder, 2_500);
    const texts = new Map([['0'.repeat(64), Buffer.alloc(1_000)]]);
    for (const id of ['1', '2', '3']) await store.add(recordOf(id), texts);
    expect((await store.list()).map(({ id }) => id)).toEqual(['3', '2']);
  });

  it('has nothing of what failed', async () => {
    const folder = path.join(temporaryFolder(), 'captures');
    const store = new CaptureStore(folder);
    const failing = new Map([['no/such/folder', Buffer.from('')]]);
    await expect(store.add(recordOf('1'), failing)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(fs.readdirSync(folder)).toEqual([]);
    fs.mkdirSync(path.join(folder, '2.partial'));
    await store.sweep(Date.now());
    expect(fs.readdirSync(folder)).toEqual(['2.partial']);
    await store.sweep(Date.now() + 2 * 60 * 60_000);
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it('is given out by id and hash, and nothing beside', async () => {
    const folder = temporaryFolder({ secret: 'x' });
    const store = new CaptureStore(path.join(folder, 'captures'));
    for (const [id, sha256] of [
      ['..', 'secret'],
      ['..', '0'.repeat(64)],
      ['1', '../../secret'],
    ] as const) {
      await expect(store.text(id, sha256)).rejects.toMatchObject({ code: 'bad_input' });
    }
  });

  it('is the latest 50, and nothing that is not a record', async () => {
    const folder = path.join(temporaryFolder(), 'captures');
    const store = new CaptureStore(folder);
    expect(await store.list()).toEqual([]);
    for (let at = 0; at < 52; at++) {
      const id = String(at).padStart(3, '0');
      await store.add(recordOf(id), new Map());
    }
    fs.writeFileSync(path.join(folder, '051', 'capture.json'), '{"version": 2}');
    fs.writeFileSync(path.join(folder, '050', 'capture.json'), '{');
    const kept = await store.list();
    expect([kept.length, kept[0]?.id, kept.at(-1)?.id]).toEqual([48, '049', '002']);
  });
});
