import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock';
import { deferred } from '../../src/base/deferred';
import { HoldfastError } from '../../src/base/errors';
import { createTranscript } from '../../src/editor/panel/transcript';
import { silentLog } from '../../src/base/log';
import { Door } from '../../src/editor/door';
import { Runs, type Place, type RunsParts } from '../../src/editor/runs';
import { sessionKeyOf, type SessionTarget } from '../../src/editor/sessions/target';
import type { ExecutionResult, KernelPool, PoolExecuteOptions } from '../../src/pool/types';
import { resultOf } from '../support/executionResult';
import { ManualClock } from '../support/manualClock';

const place: Place = { document: 'file:///w/a.py', folder: '/w' };
const target: SessionTarget = {
  language: 'python',
  sessionId: 'python:default',
  cwd: '/w',
  interpreter: undefined,
  label: 'w',
};
const ok = resultOf();

function doorTo(pool: Pick<KernelPool, 'execute'>): Door {
  return new Door({
    execute: (code, options) => pool.execute(code, options),
    disposers: [],
    isStreaming: () => false,
    record() {},
    log: silentLog,
  });
}

function setUp(parts: Partial<RunsParts> = {}) {
  const executed: { code: string; options: PoolExecuteOptions }[] = [];
  const failures: unknown[] = [];
  const transcript = createTranscript();
  const pool = {
    execute(code: string, options: PoolExecuteOptions) {
      executed.push({ code, options });
      return Promise.resolve(ok);
    },
  };
  let ids = 0;
  const runs = new Runs({
    ownerId: 'window:1',
    clock: systemClock,
    transcript,
    newId: () => `run-${++ids}`,
    assertAllowed() {},
    door: doorTo(pool),
    resolve: () => Promise.resolve(target),
    mode: () => Promise.resolve('session'),
    onBegin() {},
    onFailure: (error) => failures.push(error),
    ...parts,
  });
  return { runs, executed, failures, transcript };
}

describe('runs', () => {
  it('says which of them asks for input, until that is answered', async () => {
    const over = deferred<ExecutionResult>();
    let ask: PoolExecuteOptions['onInput'];
    const execute: KernelPool['execute'] = (_, options) => {
      ask = options.onInput;
      return over.promise;
    };
    const { runs, transcript } = setUp({ door: doorTo({ execute }) });
    void runs.run({ code: 'input("Who? ")', to: target });
    await expect.poll(() => ask).toBeDefined();
    const { signal } = new AbortController();
    const answer = ask?.({ prompt: 'Who? ', password: false, signal });
    expect(runs.get('run-1')?.asks).toBe('Who? ');
    transcript.answer(1, 'Ada');
    expect(await answer).toBe('Ada');
    expect(runs.get('run-1')?.asks).toBeUndefined();
    over.resolve(ok);
  });

  it('reach the session once each and in order, though the first is slower to resolve', async () => {
    const slow = deferred<SessionTarget>();
    let asked = 0;
    const { runs, executed } = setUp({
      resolve: () => (asked++ === 0 ? slow.promise : Promise.resolve(target)),
    });
    const all = ['a', 'b', 'c'].map((code) => runs.run({ code, to: place }));
    slow.resolve(target);
    await Promise.all(all);
    expect(executed.map(({ code }) => code)).toEqual(['a', 'b', 'c']);
  });

  it('do not wait for each other to end', async () => {
    const executed: string[] = [];
    const never = new Promise<ExecutionResult>(() => {});
    const bothSent = deferred();
    const pool = {
      execute(code: string) {
        if (executed.push(code) === 2) bothSent.resolve();
        return never;
      },
    };
    const { runs } = setUp({ door: doorTo(pool) });
    void runs.run({ code: 'a', to: place });
    void runs.run({ code: 'b', to: place });
    await bothSent.promise;
    expect(executed).toEqual(['a', 'b']);
  });

  it('carry the window as the owner, the session, and where the code stands', async () => {
    const { runs, executed } = setUp();
    const source = { file: '/w/a.py', line: 3 };
    await runs.run({ code: 'a', source, to: { ...target, interpreter: '/py' } });
    expect(executed[0]?.options).toMatchObject({
      ownerId: 'window:1',
      sessionId: 'python:default',
      cwd: '/w',
      interpreter: '/py',
      mode: 'session',
      source,
    });
  });

  it('carry no interpreter that nobody chose', async () => {
    const { runs, executed } = setUp();
    await runs.run({ code: 'a', to: place });
    expect(executed[0]?.options).not.toHaveProperty('interpreter');
  });

  it('whose owner is let go of before they are handed over are refused', async () => {
    const slow = deferred<SessionTarget>();
    const executed: string[] = [];
    const execute = (code: string): Promise<ExecutionResult> => {
      executed.push(code);
      return Promise.resolve(ok);
    };
    const door = doorTo({ execute });
    const { runs } = setUp({ door, resolve: () => slow.promise });
    const by = { ownerId: 'chat:1', origin: 'tool', name: 'Chat' } as const;
    const run = runs.perform({ code: 'a', to: place, by });
    await door.close('chat:1');
    slow.resolve(target);
    await expect(run).rejects.toMatchObject({ code: 'closed' });
    await runs.perform({ code: 'b', to: place, by });
    expect(executed).toEqual(['b']);
  });

  it('have their limit while their session is being found, and are not sent afterwards', async () => {
    const clock = new ManualClock();
    const slow = deferred<SessionTarget>();
    const { runs, executed, transcript } = setUp({ clock, resolve: () => slow.promise });
    const run = runs.perform({ code: 'a', to: place, timeoutMs: 2_000 });
    await clock.advance(2_000);
    const { cancelled, notes } = await run;
    expect([cancelled, notes]).toEqual([true, ['Timed out after 2 seconds, before it ran.']]);
    slow.resolve(target);
    await runs.perform({ code: 'b', to: place });
    expect(executed.map(({ code }) => code)).toEqual(['b']);
    expect(transcript.sessions()).toHaveLength(1);
  });

  it('in a workspace that is not trusted resolve and start nothing', async () => {
    let touched = false;
    const touch = (): Promise<never> => {
      touched = true;
      return Promise.reject(new Error('touched'));
    };
    const { runs, failures } = setUp({
      assertAllowed() {
        throw new HoldfastError('untrusted_workspace', 'Not trusted.');
      },
      resolve: touch,
      door: { entry: () => ({ run: touch }) },
    });
    await runs.run({ code: 'a', to: place });
    expect(failures).toMatchObject([{ code: 'untrusted_workspace' }]);
    expect(touched).toBe(false);
  });

  it('that fail are told, and do not hold up the next one', async () => {
    let asked = 0;
    const { runs, executed, failures } = setUp({
      resolve: () =>
        asked++ === 0 ? Promise.reject(new Error('no Python')) : Promise.resolve(target),
    });
    await Promise.all(['a', 'b'].map((code) => runs.run({ code, to: place })));
    expect(failures).toMatchObject([{ message: 'no Python' }]);
    expect(executed.map(({ code }) => code)).toEqual(['b']);
  });

  it('are known while they go on, and cancelled by their id alone', async () => {
    const signals = new Map<string, AbortSignal | undefined>();
    const began = deferred();
    const pool = {
      execute(code: string, { signal, onStart }: PoolExecuteOptions) {
        signals.set(code, signal);
        if (signals.size === 1) onStart?.();
        else began.resolve();
        return new Promise<ExecutionResult>((resolve) =>
          signal?.addEventListener('abort', () => resolve({ ...ok, cancelled: true })),
        );
      },
    };
    const { runs } = setUp({ door: doorTo(pool) });
    const first = runs.run({ code: '\n  while True:\n    pass', to: place });
    void runs.run({ code: 'b', to: place });
    await began.promise;
    const [running, waiting] = runs.inSession(sessionKeyOf(target));
    expect(running).toMatchObject({ executionId: 'run-1', firstLine: 'while True:' });
    expect(running?.startedAt).toBeTypeOf('number');
    expect(waiting?.startedAt).toBeUndefined();
    runs.cancel('run-1');
    await first;
    expect(runs.inSession(sessionKeyOf(target)).map((run) => run.executionId)).toEqual(['run-2']);
    expect(signals.get('b')?.aborted).toBe(false);
  });
});
