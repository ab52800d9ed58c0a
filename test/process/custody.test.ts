import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { markedWith } from '../support/processes/processTable';
import { until } from '../support/until';
import { hostingForTest, temporaryFolder } from './support/hosting';
import { alive, endAfterTest, expectGone } from './support/processes';
import { poolForTest } from './support/pool';

// What the pool promises about slots and owners, over real kernels: the figures are those of real processes.

test('four stalled disposals, then a fifth start: it waits, says for whom, and starts once one is gone (oh-my-pi 679)', async () => {
  const stalled = hostingForTest();
  const other = hostingForTest();
  const owners = ['a', 'b', 'c', 'd'];
  let { hosting } = stalled;
  const { pool, kernels, run } = poolForTest({ hosting: () => hosting });
  await Promise.all(owners.map((owner) => run(owner, '1')));
  const host = stalled.hosting.hostPid ?? 0;
  endAfterTest(host);
  process.kill(host, 'SIGSTOP');
  const disposals = owners.map((owner) => pool.disposeOwner(owner));
  ({ hosting } = other);

  const impatient = await run('impatient', '1', { timeoutMs: 300 });
  expect(impatient).toMatchObject({ cancelled: true, exitCode: undefined });
  expect(impatient.output).toMatch(/waiting for a free kernel slot \(4 of 4 .*/);
  const fifth = run('e', 'print(5)');
  expect(pool.capacity()).toMatchObject({
    counted: 4,
    waiting: [{ sessionId: 'python:e', owners: [{ id: 'e' }] }],
  });
  expect(kernels).toHaveLength(4);

  process.kill(host, 'SIGCONT');
  expect(await fifth).toMatchObject({ exitCode: 0, output: '5\n' });
  await Promise.all(disposals);
  await expectGone(
    kernels.slice(0, 4).map(({ pid }) => pid ?? 0),
    15_000,
  );
  expect(kernels).toHaveLength(5);
});

test('ten first runs at once: exactly one process (hermes-agent 101861)', async () => {
  const { hosting } = hostingForTest();
  const { pool, kernels } = poolForTest({ hosting: () => hosting });
  const runs = Array.from({ length: 10 }, (_, index) =>
    pool.execute('import os\nprint(os.getpid())', {
      cwd: '/',
      sessionId: 'python:shared',
      ownerId: `owner-${index}`,
    }),
  );
  const outputs = (await Promise.all(runs)).map(({ output }) => output);
  expect(kernels).toHaveLength(1);
  expect(new Set(outputs)).toEqual(new Set([`${kernels[0]?.pid}\n`]));
});

test('a pool of one, a’s run going on, b starts: a finishes, and b runs after it (hermes-agent 94647)', async () => {
  const { hosting } = hostingForTest();
  const go = path.join(temporaryFolder(), 'go');
  const { pool, run, session, when } = poolForTest({ hosting: () => hosting, capacity: 1 });
  const a = run(
    'a',
    `import os, time\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.01)\nprint("a")`,
  );
  await when(() => session('a')?.state.kind === 'busy');
  const b = run('b', 'print("b")');
  expect(pool.capacity().waiting).toMatchObject([{ sessionId: 'python:b' }]);
  expect(session('a')?.state.kind).toBe('busy');
  writeFileSync(go, '');
  expect(await a).toMatchObject({ exitCode: 0, output: 'a\n' });
  expect(await b).toMatchObject({ exitCode: 0, output: 'b\n' });
});

test('idle expiry with no further request: the timer reaps the process by itself (hermes-agent 117169)', async () => {
  const { hosting } = hostingForTest();
  const { pool, kernels, run, when } = poolForTest({ hosting: () => hosting, idleExpiryMs: 400 });
  await run('client:a', '1');
  const pid = kernels[0]?.pid ?? 0;
  await when(() => pool.sessions().length === 0);
  expect(alive(pid)).toBe(false);
});

test('a kernel that ignores exit, SIGTERM and a stubbed SIGKILL: retained without an owner, shown with attempt and next try, and tried again (oh-my-pi 7714)', async () => {
  const { hosting } = hostingForTest();
  let stubbed = true;
  const unkillable = poolForTest({
    hosting: () => hosting,
    ownerCleanupMs: 300,
    retryIntervalMs: 400,
    startKernel: async ({ sessionId, signal }) => {
      const language = 'python' as const;
      const spec = { language, interpreter: 'python3', cwd: '/', sessionId, env: process.env };
      const kernel = await hosting.startKernel({ ...spec, signal });
      const stop = kernel.shutdown.bind(kernel);
      // In place of a process that no signal ends.
      kernel.shutdown = (options) =>
        stubbed
          ? Promise.resolve({ confirmed: false, reason: 'It is still there after SIGKILL.' })
          : stop(options);
      return kernel;
    },
  });
  const { pool, run, session, when } = unkillable;
  await run('a', '1');
  const pid = session('a')?.pid ?? 0;
  await pool.disposeOwner('a');

  const state = session('a')?.state;
  expect(state).toMatchObject({
    kind: 'stopUnconfirmed',
    reason: 'It is still there after SIGKILL.',
  });
  expect(state?.kind === 'stopUnconfirmed' && state.nextTryAt).toBeGreaterThan(Date.now() - 400);
  expect(session('a')?.owners).toEqual([{ id: 'a', kind: 'departed' }]);
  expect(pool.capacity().counted).toBe(1);
  expect(alive(pid)).toBe(true);
  const attempt = (): number => {
    const now = session('a')?.state;
    return now?.kind === 'stopUnconfirmed' ? now.attempt : 0;
  };
  await when(() => attempt() >= 3);

  stubbed = false;
  await when(() => pool.sessions().length === 0);
  expect(alive(pid)).toBe(false);
});

test('the owner lets go at 1 s of a start that takes 5: the run is cancelled, and no kernel appears later (oh-my-pi 691)', async () => {
  const folder = temporaryFolder();
  const interpreter = path.join(folder, 'slow');
  const began = path.join(folder, 'began');
  writeFileSync(interpreter, `#!/bin/sh\ntouch '${began}'\nsleep 5\nexec python3 "$@"\n`);
  chmodSync(interpreter, 0o755);
  const mark = path.basename(folder);
  process.env['HOLDFAST_TEST_MARK'] = mark;
  onTestFinished(() => void delete process.env['HOLDFAST_TEST_MARK']);
  const { hosting } = hostingForTest();
  const { pool, kernels, run } = poolForTest({ hosting: () => hosting, interpreter });
  const first = run('a', 'print(1)');
  expect(await until(() => existsSync(began), 5_000, 10)).toBe(true);
  await pool.disposeOwner('a');
  expect(await first).toMatchObject({ cancelled: true, output: expect.any(String) as string });
  const started = (): number =>
    markedWith('HOLDFAST_TEST_MARK', mark).filter(({ pid }) => pid !== hosting.hostPid).length;
  // The wrapper and its sleep are gone, so that nobody is left who could start a kernel.
  expect(await until(() => started() === 0, 5_000, 20)).toBe(true);
  expect(kernels).toEqual([]);
  expect(pool.sessions()).toEqual([]);
});
