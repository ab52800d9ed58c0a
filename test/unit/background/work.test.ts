import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../../../src/base/deferred';
import { Emitter } from '../../../src/base/event';
import { HoldfastError } from '../../../src/base/errors';
import { silentLog } from '../../../src/base/log';
import { BackgroundActions } from '../../../src/editor/background/backgroundActions';
import { BackgroundRunsHere } from '../../../src/editor/background/backgroundRunsHere';
import { BackgroundWork } from '../../../src/editor/background/backgroundWork';
import type { GoingRun } from '../../../src/editor/background/keptRuns';
import { keyOf, sessionOf } from '../../../src/editor/background/session';
import { Door } from '../../../src/editor/door';
import { createTranscript } from '../../../src/editor/panel/transcript';
import type { PastEvent } from '../../../src/editor/reload/replay';
import type { Adoption, Place } from '../../../src/hosting';
import type { PooledKernel } from '../../../src/kernel/kernel';
import { createAdmission } from '../../../src/runner/admission';
import type { BackgroundSnapshot } from '../../../src/runner/backgroundTypes';
import type { RunRecordEntry } from '../../../src/runner/records';
import { resultOf } from '../../support/executionResult';
import { FakeKernels, interruptedReply, okReply } from '../../support/fakeKernel';
import { flush, ManualClock } from '../../support/manualClock';

const me = 'window:me';

function setUp({ startTimeoutMs = 60_000 } = {}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hf-work-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const kernels = new FakeKernels();
  kernels.prepare = (kernel) => void (kernel.executePlan = 'hang');
  const transcript = createTranscript();
  const kept = new Map<string, unknown>();
  const records: RunRecordEntry[] = [];
  /** Ids of runs that were not in the transcript when they were recorded: nothing could be kept of them. */
  const unseen: (string | undefined)[] = [];
  const cleared: string[] = [];
  const ends: BackgroundSnapshot[] = [];
  const failures: unknown[] = [];
  const clock = new ManualClock();
  const admission = createAdmission({ captureEnabled: true });
  let trusted = true;
  let ids = 0;
  const door: Door = new Door({
    execute: () => Promise.resolve(resultOf()),
    disposers: [(owner) => work.disposeOwner(owner)],
    isStreaming: () => false,
    record(entry) {
      records.push(entry);
      if (!transcript.shownRun(entry.executionId ?? '')) unseen.push(entry.executionId);
    },
    log: silentLog,
  });
  const newId = (): string => `run-${++ids}`;
  const work: BackgroundWork = new BackgroundWork({
    ...{ ownerId: me, clock, newId, door },
    assertAllowed() {
      if (!trusted) throw new HoldfastError('untrusted_workspace', 'Not here.');
    },
    ready: () => Promise.resolve(),
    load: async (onChange) =>
      new BackgroundRunsHere({
        ...{ ownerId: me, clock, log: silentLog, transcript, door, newId, folder, onChange },
        startKernel: kernels.start,
        startTimeoutMs: () => startTimeoutMs,
        maxOutputBytes: () => 50_000,
        enterLease: () => admission.background(),
        keep: (key, value) =>
          value === undefined
            ? kept.delete(key)
            : kept.set(key, JSON.parse(JSON.stringify(value)) as unknown),
        clearKept: async (key) => void cleared.push(key),
        onEnd: (snapshot) => ends.push(snapshot),
        onFailure: (error) => failures.push(error),
      }),
  });
  const launch = (code: string, more = {}) => work.launch({ code, cwd: '/w', ...more });
  const ended = (id: string): Promise<BackgroundSnapshot> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (work.list().find((run) => run.executionId === id)?.done) resolve(work.peek(id));
      };
      work.onDidChange(look);
      look();
    });
  const tab = (key: string) =>
    transcript
      .reader(key)
      .read()
      .entries.flatMap((entry) => (entry.kind === 'run' ? [entry] : []));
  return {
    ...{
      admission,
      work,
      door,
      kernels,
      transcript,
      kept,
      records,
      unseen,
      cleared,
      clock,
      ends,
      failures,
      folder,
      launch,
      ended,
    },
    tab,
    distrust: () => (trusted = false),
  };
}

const stream = (text: string) => ({ type: 'stream', name: 'stdout', text }) as const;

describe('a launch', () => {
  it('starts a kernel of its own, which a next window finds; shows, records and keeps what comes of it', async () => {
    const { work, kernels, launch, ended, kept, records, ends, tab } = setUp();
    const { executionId } = await launch('print(1)', { source: { file: '/w/a.py', line: 3 } });
    expect(work.peek(executionId)).toMatchObject({ status: 'running', phase: 'executing' });
    expect(kernels.requests[0]).toMatchObject({
      cwd: '/w',
      sessionId: 'python:background:run-1',
      place: { id: 'background:run-1', incarnation: 1 },
      owners: [me],
    });
    expect(kept.get('background/run-1')).toMatchObject({ kind: 'going', phase: 'running' });
    const [execution] = kernels.at(0).executions;
    expect(execution?.options.source).toEqual({ file: '/w/a.py', line: 3 });
    execution?.options.onOutput('1\n');
    expect(work.peek(executionId).stdout).toBe('1\n');
    kernels.at(0).finish();
    const end = await ended(executionId);
    expect(end).toMatchObject({ status: 'done', stdout: '1\n' });
    expect(readFileSync(end.artifact ?? '', 'utf8')).toBe('1\n');
    expect(kernels.at(0).sd).toBe(1);
    expect(kept.get('background/run-1')).toMatchObject({ kind: 'over', status: 'done' });
    expect(records).toMatchObject([
      { executionId, ownerId: me, origin: 'person', output: '1\n', exitCode: 0, code: 'print(1)' },
    ]);
    expect(ends).toHaveLength(1);
    expect(tab(keyOf(end.request))).toMatchObject([{ head: { state: 'ok', owner: null } }]);
  });

  it('is refused in a workspace that is not trusted, before anything is asked or started', async () => {
    const { launch, distrust, kernels, door } = setUp();
    door.addHook(() => {
      throw new Error('asked');
    });
    distrust();
    await expect(launch('1')).rejects.toMatchObject({ code: 'untrusted_workspace' });
    expect(kernels.starts).toBe(0);
  });

  it('is asked of the hooks: one that throws refuses it, one that supplies the result touches no kernel', async () => {
    const { work, door, launch, kernels, records, unseen, cleared, tab, transcript } = setUp();
    const first = door.addHook(({ code }) => {
      if (code === 'no') throw new Error('Not this.');
    });
    await expect(launch('no')).rejects.toThrow('Not this.');
    first.dispose();
    door.addHook(({ code }) => (code === '6 * 7' ? { result: resultOf({ output: '42' }) } : {}));
    const supplied = await launch('6 * 7');
    expect(supplied.status).toBe('done');
    expect(work.peek(supplied.executionId)).toMatchObject({ stdout: '42', done: true });
    const { executionId } = supplied;
    expect(records).toMatchObject([{ executionId, code: '6 * 7', output: '42' }]);
    expect(unseen).toEqual([]);
    const key = keyOf(work.peek(executionId).request);
    const [shown] = tab(keyOf(work.peek(executionId).request));
    expect(shown?.head).toMatchObject({ state: 'ok', code: '6 * 7' });
    expect(kernels.starts).toBe(0);
    await work.remove(executionId);
    expect([work.list(), transcript.sessions(), cleared]).toEqual([[], [], [key]]);
  });

  it('that fails to start is passed on, leaves nothing, and its tab says why', async () => {
    const { work, launch, kernels, kept, tab, transcript } = setUp();
    kernels.prepare = () => {
      throw new HoldfastError('interpreter_failed', 'No such Python.');
    };
    await expect(launch('1')).rejects.toMatchObject({ code: 'interpreter_failed' });
    expect(work.list()).toEqual([]);
    expect(kept.size).toBe(0);
    const [key] = transcript.sessions().map((session) => session.key);
    expect(tab(key ?? '')).toMatchObject([
      { head: { state: 'failed', remark: 'No such Python.' } },
    ]);
  });

  it('whose start takes too long is given up, and a kernel that comes all the same is shut down', async () => {
    const { work, launch, kernels } = setUp({ startTimeoutMs: 5 });
    kernels.prepare = (kernel) =>
      new Promise((resolve) =>
        kernel.request.signal.addEventListener('abort', () => resolve(undefined)),
      );
    await expect(launch('1')).rejects.toMatchObject({ code: 'start_timeout' });
    expect(kernels.at(0).sd).toBe(1);
    expect(work.list()).toEqual([]);
  });
});

describe('an owner', () => {
  it('that goes ends its runs, and no others', async () => {
    const { door, work, launch, kernels } = setUp();
    const mine = await launch('mine');
    const chats = await launch('chat', { owner: 'chat:1', ownerName: 'Chat', origin: 'tool' });
    Object.assign(kernels.at(1), {
      interrupt: async () => {
        kernels.at(1).finish(interruptedReply);
        return { delivered: true, target: 'it' };
      },
    });
    await door.close('chat:1');
    expect(work.peek(chats.executionId)).toMatchObject({ status: 'interrupted', done: true });
    expect(work.peek(mine.executionId).status).toBe('running');
    kernels.at(0).finish();
  });

  it('that goes while a launch of it is asked of the hooks has it called off', async () => {
    const { door, work, launch, kernels } = setUp();
    const answer = deferred();
    const asked = deferred();
    door.addHook(async () => {
      asked.resolve();
      await answer.promise;
    });
    const launched = launch('chat', { owner: 'chat:1', origin: 'tool' });
    await asked.promise;
    await work.disposeOwner('chat:1');
    answer.resolve();
    await expect(launched).rejects.toMatchObject({ code: 'closed' });
    expect(kernels.starts).toBe(0);
  });
});

describe('a kernel', () => {
  it('that dies makes its run failed; its tab and its record say how it died', async () => {
    const { launch, ended, kernels, records, tab } = setUp();
    const { executionId } = await launch('crash()');
    Object.assign(kernels.at(0), { exit: { summary: 'The kernel crashed (SIGSEGV).' } });
    kernels.at(0).die();
    const end = await ended(executionId);
    expect(end).toMatchObject({ status: 'failed', error: 'background execution failed' });
    const remark = 'The kernel crashed (SIGSEGV). Whether this run had completed is uncertain.';
    expect(tab(keyOf(end.request))).toMatchObject([{ head: { state: 'error', remark } }]);
    expect(records).toMatchObject([{ notes: [remark] }]);
  });

  it('is told of while its run goes on: memory since the last look, and silence as it comes and goes', async () => {
    const { work, launch, ended, kernels, clock } = setUp();
    const silence = new Emitter<void>();
    let bytes = 5;
    let measured = 0;
    kernels.prepare = (kernel) => {
      kernel.executePlan = 'hang';
      Object.assign(kernel, { pid: 7, onDidChangeSilence: silence.event });
      Object.assign(kernel, { memory: async () => (measured++, bytes) });
    };
    const { executionId } = await launch('train()');
    const facts = () => work.look().map(({ pid, memoryBytes }) => [pid, memoryBytes]);
    expect(facts()).toEqual([[7, undefined]]);
    await flush();
    bytes = 6;
    expect(facts()).toEqual([[7, 5]]);
    await clock.advance(10_000);
    facts();
    await flush();
    expect([facts(), measured]).toEqual([[[7, 6]], 2]);

    let told = 0;
    work.onDidChange(() => told++);
    Object.assign(kernels.at(0), { silence: { since: 1, of: 'kernel' } });
    silence.fire();
    expect([told, work.look()[0]?.silence]).toEqual([1, { since: 1, of: 'kernel' }]);
    kernels.at(0).finish();
    await ended(executionId);
    expect([facts(), silence.hasListeners]).toEqual([[[undefined, undefined]], false]);
  });
});

describe('the stop of a run', () => {
  it('says where the interrupt did not arrive, and offers the kill', async () => {
    const { work, launch, kernels } = setUp();
    const { executionId } = await launch('spin()');
    const kernel = kernels.at(0);
    Object.assign(kernel, {
      interrupt: async () => ({ delivered: false, target: 'group 7', reason: 'Nobody is in it.' }),
      kill: async () => {
        kernel.die();
        return { confirmed: true };
      },
    });
    const asked: string[] = [];
    const actions = new BackgroundActions({
      work: {
        peek: (id) => work.peek(id),
        kill: (id) => work.kill(id),
        remove: (id) => work.remove(id),
        // What 5 s of not heeding make of it.
        interrupt: async (id) => ({
          ...work.peek(id),
          interruptUndelivered: (await (kernel as PooledKernel).interrupt?.())?.reason ?? '',
        }),
      },
      prompts: {
        inform: () => Promise.resolve(undefined),
        warn: (text, ...choices) => {
          asked.push(text);
          return Promise.resolve(choices.at(-1));
        },
      },
    });
    await actions.interrupt(executionId);
    expect(asked).toEqual([
      'The interrupt did not reach the background run spin(). Nobody is in it.',
    ]);
    expect(work.peek(executionId)).toMatchObject({ status: 'failed', killed: true });
  });
});

describe('the window after a reload', () => {
  const request = {
    ...{ executionId: 'old', code: 'train()', startedAt: 5, ownerId: 'window:before' },
    ...{ cwd: '/w', origin: 'person' as const },
  };
  const going = (more: Partial<GoingRun> = {}): GoingRun => ({
    ...{ kind: 'going', request, phase: 'running', leftOut: 0 },
    ...more,
  });
  const begun: PastEvent = { what: 'begun', execution: 'old', at: 7, code: 'train()' };
  const printed = (text: string): PastEvent => ({
    what: 'output',
    execution: 'old',
    output: stream(text),
  });

  function adoption(
    run: object,
    events: readonly PastEvent[],
    kernel?: PooledKernel,
  ): Adoption & { asked: Place[] } {
    const asked: Place[] = [];
    return {
      asked,
      kept: new Map<string, unknown>([
        ['window', 'window:before'],
        ['background/old', JSON.parse(JSON.stringify(run))],
        ['background/broken', { kind: 'going' }],
      ]),
      histories: new Map([[keyOf(request), events as never]]),
      holds: () => true,
      reattach: (place) => {
        asked.push(place);
        return Promise.resolve(kernel);
      },
      stopOthers: () => undefined,
    };
  }

  it('goes on with a run whose head the kernel host has let go of, out of its file', async () => {
    const { admission, work, ended, folder, kept } = setUp();
    const artifact = path.join(folder, 'old.txt');
    writeFileSync(artifact, 'step 1\nstep 2\nst');
    const outputs = [
      { type: 'gap', lines: 1, bytes: 7 } as const,
      stream('step 2\nstep 3\n'),
      stream('step 4\n'),
    ];
    let finish: () => void = () => undefined;
    const kernel: PooledKernel = {
      isAlive: () => true,
      execute: () => Promise.reject(new Error('sent again')),
      shutdown: () => Promise.resolve({ confirmed: true }),
      resume: ({ onOutput }) => {
        outputs.forEach((output) => onOutput(output));
        return new Promise((resolve) => (finish = () => resolve(okReply)));
      },
    };
    const events: PastEvent[] = [
      begun,
      { what: 'output', execution: 'old', output: outputs[0]! },
      printed('step 2\nstep 3\n'),
    ];
    const places = await work.takeUp(adoption(going({ artifact }), events, kernel));
    expect(places).toEqual([sessionOf(request).place]);
    const whole = 'step 1\nstep 2\nstep 3\nstep 4\n';
    expect(work.peek('old')).toMatchObject({
      ...{ status: 'running', startedAt: 5, stdout: whole },
      request: { ownerId: me },
    });
    expect(kept.get('background/old')).toMatchObject({ request: { ownerId: me } });
    const capture = (): Promise<string> => admission.capture(() => Promise.resolve('captured'));
    await expect(capture()).rejects.toMatchObject({ code: 'capture_busy' });
    finish();
    expect(await ended('old')).toMatchObject({ status: 'done', stdout: whole });
    expect(await capture()).toBe('captured');
    expect(readFileSync(artifact, 'utf8')).toBe(whole);
  });

  it('goes on with a run beside which a capture has begun before it was taken up', async () => {
    const { admission, work, ended } = setUp();
    const captured = deferred();
    const capture = admission.capture(() => captured.promise);
    const over = deferred();
    const kernel: PooledKernel = {
      isAlive: () => true,
      execute: () => Promise.reject(new Error('sent again')),
      shutdown: () => Promise.resolve({ confirmed: true }),
      resume: () => over.promise.then(() => okReply),
    };
    await work.takeUp(adoption(going(), [begun], kernel));
    expect(work.peek('old').status).toBe('running');
    captured.resolve();
    await capture;
    over.resolve();
    expect((await ended('old')).status).toBe('done');
  });

  it('says of one whose kernel is gone how it ended, if that was seen, with its output', async () => {
    const { work, ended, records, unseen } = setUp();
    const over: PastEvent = { what: 'finished', execution: 'old', at: 9, reply: okReply };
    await work.takeUp(adoption(going(), [begun, printed('a\n'), over]));
    expect(await ended('old')).toMatchObject({ status: 'done', stdout: 'a\n' });
    expect(records).toMatchObject([{ executionId: 'old', output: 'a\n', exitCode: 0 }]);
    expect(unseen).toEqual([]);

    const next = setUp();
    await next.work.takeUp(adoption(going(), [begun, printed('a\n')]));
    const end = await next.ended('old');
    expect(end).toMatchObject({ status: 'failed', stdout: 'a\n' });
    const [run] = next.tab(keyOf(end.request));
    expect(run?.head?.remark).toContain('while the window was away');
  });

  it('shows those that were over as they ended', async () => {
    const { work, tab, kept, records } = setUp();
    const over = { kind: 'over', request, status: 'interrupted', interrupted: true, endedAt: 9 };
    const places = await work.takeUp(adoption(over, [begun, printed('a\n')]));
    expect(places).toEqual([]);
    expect(work.list()).toMatchObject([
      { executionId: 'old', status: 'interrupted', stdout: 'a\n', startedAt: 5, endedAt: 9 },
    ]);
    expect(tab(keyOf(request))).toMatchObject([{ head: { state: 'cancelled', endedAt: 9 } }]);
    expect(records).toEqual([]);
    await work.remove('old');
    expect([work.list(), kept.get('background/old')]).toEqual([[], undefined]);
  });

  it('starts one again whose code was never sent, for a person; who else asked is gone', async () => {
    const { work, kernels, kept } = setUp();
    const sent = new Promise<void>((resolve) => {
      kernels.prepare = (kernel) => {
        kernel.executePlan = 'hang';
        const execute = kernel.execute.bind(kernel);
        kernel.execute = (code, options) => {
          resolve();
          return execute(code, options);
        };
      };
    });
    const places = await work.takeUp(adoption(going({ phase: 'starting' }), []));
    expect(places).toEqual([]);
    await sent;
    expect(kernels.at(0).codes).toEqual(['train()']);
    expect(kept.has('background/old')).toBe(false);

    const other = setUp();
    const byTool = going({ phase: 'starting', request: { ...request, origin: 'tool' } });
    await other.work.takeUp(adoption(byTool, []));
    expect(other.kernels.starts).toBe(0);
    kernels.at(0).finish();
  });

  it('what a leaving window hears is its leaving, and changes nothing that is kept', async () => {
    const { work, launch, kernels, kept, records, ends } = setUp();
    const { executionId } = await launch('train()');
    const before = kept.get(`background/${executionId}`);
    work.leave();
    records.length = 0;
    kernels.at(0).die();
    await work.kill(executionId);
    expect(kept.get(`background/${executionId}`)).toEqual(before);
    expect([records, ends]).toEqual([[], []]);
  });

  it('what goes on when the window leaves is recorded as it stands, and anew at its end by the window that takes it up', async () => {
    const { work, launch, kernels, records, unseen } = setUp();
    const over = await launch('quick()');
    kernels.at(0).finish();
    await work.interrupt(over.executionId);
    const { executionId } = await launch('train()');
    kernels.at(1).executions[0]?.options.onOutput('step 1\n');
    records.length = 0;
    work.leave();
    const notes = ['It went on when its window closed.'];
    expect(records).toMatchObject([{ executionId, cancelled: true, notes }]);
    expect(records[0]?.output).toBe('step 1\nIt went on when its window closed.');
    expect(unseen).toEqual([]);

    const next = setUp();
    const ended: PastEvent = { what: 'finished', execution: 'old', at: 9, reply: okReply };
    await next.work.takeUp(adoption(going(), [begun, ended]));
    await next.ended('old');
    expect(next.records).toMatchObject([{ executionId: 'old', cancelled: false, exitCode: 0 }]);
  });
});
