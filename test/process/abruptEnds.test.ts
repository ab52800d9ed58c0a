import { mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/until';
import { hostingForTest, startPython, temporaryFolder } from './support/hosting';
import { alive, expectGone } from './support/processes';
import { leaveChildren, standIn, type StandIn } from './support/standIn';

const GRACE_MS = 1_500;
const WINDOWS = 24;
// So many interpreters start at once; more would measure the machine.
const AT_ONCE = 6;

function runtimeFolder(): string {
  const folder = path.join(temporaryFolder(), 'run');
  mkdirSync(folder);
  return folder;
}

/** Every file that any kernel host has made, sockets included. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => !statSync(path.join(folder, file)).isDirectory(),
  );
}

test(
  '24 windows that exit abruptly: no kernel, child or file after the grace period (nteract 2094)',
  { timeout: 180_000 },
  async () => {
    const runtimeDir = runtimeFolder();
    const windows: StandIn[] = [];
    while (windows.length < WINDOWS) {
      const wave = Array.from({ length: AT_ONCE }, () =>
        standIn({ graceMs: GRACE_MS, codes: [leaveChildren], runtimeDir }),
      );
      const opened = await Promise.all(wave);
      for (const { pid } of opened) process.kill(pid, 'SIGKILL');
      windows.push(...opened);
    }
    const pids = windows.flatMap(({ pid, hostPid, family }) => [pid, hostPid, ...family]);
    expect(new Set(windows.map(({ hostPid }) => hostPid)).size).toBe(WINDOWS);
    await expectGone(pids, GRACE_MS + 5_000);
    expect(await until(() => readdirSync(runtimeDir).length === 0, 1_000)).toBe(true);
  },
);

test('connection files before and after a close, a SIGKILL of the window and one of window and host: none left (vscode-jupyter 9712)', async () => {
  const runtimeDir = runtimeFolder();
  const open = (): Promise<StandIn> => standIn({ codes: ['print(0, flush=True)'], runtimeDir });
  expect(filesBelow(runtimeDir)).toEqual([]);

  const closed = await open();
  expect(filesBelow(runtimeDir).length).toBeGreaterThan(0);
  closed.leave();
  await expectGone([closed.pid, closed.hostPid, ...closed.family], 5_000);
  expect(filesBelow(runtimeDir)).toEqual([]);

  const killed = await open();
  process.kill(killed.pid, 'SIGKILL');
  await expectGone([killed.hostPid, ...killed.family], 5_000);
  expect(filesBelow(runtimeDir)).toEqual([]);

  const both = await open();
  process.kill(both.pid, 'SIGSTOP'); // So that it cannot clear up.
  process.kill(both.hostPid, 'SIGKILL');
  process.kill(both.pid, 'SIGKILL');
  await expectGone([both.pid, both.hostPid, ...both.family], 5_000);
  const [left] = readdirSync(runtimeDir);
  const { hosting } = hostingForTest({ runtimeDir });
  const kernel = await startPython(hosting);
  // The start of any host sees to what dead ones have left.
  const isLeft = (): boolean => readdirSync(runtimeDir).includes(left ?? '');
  expect(await until(() => !isLeft(), 5_000)).toBe(true);
  await kernel.shutdown();
  expect(alive(kernel.pid)).toBe(false);
  await hosting.leave();
  expect(await until(() => filesBelow(runtimeDir).length === 0, 5_000)).toBe(true);
});
