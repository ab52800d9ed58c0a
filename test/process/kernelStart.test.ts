import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/until';
import { markedWith } from '../support/processes/processTable';
import { hostingForTest, run, startPython, temporaryFolder } from './support/hosting';
import { openDescriptors } from './support/processes';

function script(text: string): string {
  const file = path.join(temporaryFolder(), 'interpreter');
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

test('a start called off at 1 s of 5: rejects, and no kernel appears later (vscode-jupyter 14157)', async () => {
  const { hosting } = hostingForTest();
  const slow = script('#!/bin/sh\nsleep 5\nexec python3 "$@"\n');
  const mark = path.basename(path.dirname(slow));
  const start = startPython(hosting, {
    interpreter: slow,
    env: { ...process.env, HOLDFAST_TEST_MARK: mark },
    signal: AbortSignal.timeout(1_000),
  });
  await expect(start).rejects.toMatchObject({ code: 'closed' });
  // The wrapper and its sleep are gone now, so that nobody is left who could start a kernel.
  expect(markedWith('HOLDFAST_TEST_MARK', mark)).toEqual([]);
});

test('an interpreter that is missing, fails, or may not run: a clear error and its code', async () => {
  const { hosting } = hostingForTest();
  await expect(startPython(hosting, { interpreter: '/nowhere/python3' })).rejects.toMatchObject({
    code: 'interpreter_not_found',
    message: expect.stringContaining('/nowhere/python3') as string,
  });
  const broken = script('#!/bin/sh\necho "No module named encodings" >&2\nexit 3\n');
  await expect(startPython(hosting, { interpreter: broken })).rejects.toMatchObject({
    code: 'interpreter_failed',
    message: expect.stringMatching(/code 3.*No module named encodings/s) as string,
  });
  const closed = script('#!/bin/sh\n');
  chmodSync(closed, 0o644);
  await expect(startPython(hosting, { interpreter: closed })).rejects.toMatchObject({
    code: 'interpreter_failed',
  });
  await expect(startPython(hosting, { cwd: '/nowhere' })).rejects.toMatchObject({
    code: 'start_failed',
    message: expect.stringContaining('working directory /nowhere') as string,
  });
});

test('a temporary folder that somebody cleaned: the next kernel starts all the same', async () => {
  const { hosting, runtimeDir } = hostingForTest();
  await startPython(hosting);
  for (const name of readdirSync(runtimeDir)) {
    rmSync(path.join(runtimeDir, name), { recursive: true });
  }
  const kernel = await startPython(hosting);
  const sum = run(kernel, 'print(1 + 1)');
  await sum.reply;
  expect(sum.text()).toBe('2\n');
});

test('a working directory with quotes, spaces and other scripts in its name (vscode-jupyter 17042)', async () => {
  const { hosting } = hostingForTest();
  const cwd = path.join(temporaryFolder(), 'a"b é 日本');
  mkdirSync(cwd);
  const kernel = await startPython(hosting, { cwd });
  const where = run(kernel, 'import os\nprint(os.getcwd())');
  await where.reply;
  expect(where.text()).toBe(`${cwd}\n`);
});

test('twelve kernels from three hosts at once all start (vscode-jupyter 14519)', async () => {
  const hostings = [hostingForTest(), hostingForTest(), hostingForTest()];
  const kernels = await Promise.all(
    hostings.flatMap(({ hosting }) => [1, 2, 3, 4].map(() => startPython(hosting))),
  );
  const replies = kernels.map((kernel, index) => run(kernel, `print(${index})`).reply);
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(12).fill('ok'));
  expect(new Set(kernels.map(({ pid }) => pid)).size).toBe(12);
  expect(new Set(hostings.map(({ hosting }) => hosting.hostPid)).size).toBe(3);
});

test('a kernel sees its environment, but nothing that steers the editor', async () => {
  const { hosting } = hostingForTest();
  const env = {
    ...process.env,
    VIRTUAL_ENV: '/venv',
    ELECTRON_RUN_AS_NODE: '1',
    VSCODE_PID: '1',
    NODE_OPTIONS: '--no-warnings',
  };
  const kernel = await startPython(hosting, { env });
  const names = run(
    kernel,
    `
import os
print(os.environ['VIRTUAL_ENV'], [n for n in os.environ if n.startswith(('ELECTRON_', 'VSCODE_')) or n == 'NODE_OPTIONS'])
`,
  );
  await names.reply;
  expect(names.text()).toBe('/venv []\n');
});

test('twenty starts and stops leave processes and descriptors of the host as they were', async () => {
  const { hosting } = hostingForTest();
  const cycle = async (): Promise<void> => {
    const kernel = await startPython(hosting);
    await run(kernel, '1').reply;
    expect(await kernel.shutdown()).toEqual({ confirmed: true });
  };
  await cycle();
  const host = hosting.hostPid ?? 0;
  const before = openDescriptors(host);
  for (let round = 0; round < 20; round += 1) await cycle();
  expect(hosting.hostPid).toBe(host);
  // The host may be at its ledger in this very moment; what leaks stays.
  expect(await until(() => openDescriptors(host) <= before, 5_000)).toBe(true);
});
