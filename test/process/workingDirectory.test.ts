import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createKernelPool } from '../../src/pool/pool';
import type { KernelPool } from '../../src/pool/types';
import { hostingForTest, run, startPython, temporaryFolder } from './support/hosting';

test('index 1064: two owners, one changes the directory, the other is told', async () => {
  const { hosting } = hostingForTest();
  const cwd = temporaryFolder();
  const elsewhere = path.join(cwd, 'Ünder é');
  mkdirSync(elsewhere);
  const pool: KernelPool = createKernelPool({
    startKernel: (request) => startPython(hosting, { cwd: request.cwd, signal: request.signal }),
  });
  onTestFinished(() => pool.disposeAll());
  const by = async (ownerId: string, code: string): Promise<string> =>
    (await pool.execute(code, { ownerId, cwd, sessionId: 'python:shared' })).output;

  await by('a', 'import os');
  await by('b', 'pass');
  expect(await by('b', `os.chdir(${JSON.stringify(elsewhere)})`)).toBe('');
  expect(await by('a', 'print("a")')).toBe(
    `[The working directory is ${elsewhere} now: b changed it.]\na\n`,
  );
  expect(await by('a', 'print("a")')).toBe('a\n');
  expect(await by('b', 'print("b")')).toBe('b\n');
});

test('the directory is told when it has changed, and not when it is gone', async () => {
  const { hosting } = hostingForTest();
  const cwd = temporaryFolder();
  const kernel = await startPython(hosting, { cwd });
  const inner = path.join(cwd, 'inner');
  mkdirSync(inner);
  const told = async (code: string): Promise<string | undefined> =>
    (await run(kernel, code).reply).cwd;
  expect(await told('import os')).toBeUndefined();
  expect(await told('os.chdir("inner")')).toBe(inner);
  expect(await told('1 / 0')).toBeUndefined();
  rmSync(inner, { recursive: true });
  expect(await told('1')).toBeUndefined();
  expect(await told('os.chdir(os.path.expanduser("~"))')).toBeDefined();
});
