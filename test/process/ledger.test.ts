import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import { Ledger } from '../../src/ledger/ledger';
import { lifeOf, reapDeadHosts } from '../../src/ledger/reap';
import { NONCE_VARIABLE, platformProcesses, startTimeOf } from '../../src/platform/processes';
import type { HostIdentity } from '../../src/protocol/hostFile';
import { run, startPython, temporaryFolder, hostingForTest } from './support/hosting';
import { alive, endAfterTest, expectGone } from './support/processes';
import { standIn } from './support/standIn';

const processes = platformProcesses();
const tools = { processes, log: silentLog };

/** A process that does nothing, with a mark in its environment. */
async function idler(nonce: string): Promise<{ pid: number; startTime: string }> {
  const child = spawn('sleep', ['600'], {
    detached: true,
    env: { ...process.env, [NONCE_VARIABLE]: nonce },
    stdio: 'ignore',
  });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  endAfterTest(pid);
  return { pid, startTime: (await startTimeOf(processes, pid)) ?? '' };
}

/** Who a host was that is gone: this process at another time. */
async function deadHost(): Promise<HostIdentity> {
  return { id: 'dead', pid: process.pid, startTime: 'long ago', ...(await processes.scope()) };
}

function folderIn(runtimeDir: string, name: string): string {
  const folder = path.join(runtimeDir, `holdfast-${name}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

test('host and client are SIGKILLed while the kernel holds the GIL in C: the next start of any host reaps it', async () => {
  // The runner's own watcher is a Python thread, which gets no turn in this.
  const first = await standIn({
    graceMs: 10_000,
    codes: ['print(0, flush=True)\nimport time\nsum(range(10**12))'],
  });
  const [kernel] = first.kernels;
  process.kill(first.pid, 'SIGSTOP'); // So that it cannot come to the kernel’s end.
  process.kill(first.hostPid, 'SIGKILL');
  process.kill(first.pid, 'SIGKILL');
  await expectGone([first.pid, first.hostPid], 2_000);
  expect(alive(kernel?.pid ?? 0)).toBe(true);

  const { hosting } = hostingForTest({ runtimeDir: first.runtimeDir });
  const fresh = await startPython(hosting);
  await expectGone([kernel?.pid ?? 0], 5_000);
  expect(await run(fresh, '1').reply).toMatchObject({ status: 'ok' });
  expect(readdirSync(first.runtimeDir)).toHaveLength(1);
});

test('of a dead host: what it started is ended, by pid and start time or by its mark alone; nothing else', async () => {
  const runtimeDir = temporaryFolder();
  const [known, unknown, gone, reused] = await Promise.all(
    ['known', 'unknown', 'gone', 'other'].map((nonce) => idler(`test-${nonce}-${process.pid}`)),
  );
  const ledger = new Ledger(folderIn(runtimeDir, 'aaaaaa'), await deadHost());
  const nonce = (name: string): string => `test-${name}-${process.pid}`;
  ledger.intent(nonce('known'));
  ledger.spawned(nonce('known'), known!);
  ledger.intent(nonce('unknown')); // It died before it could write the pid.
  ledger.intent(nonce('gone'));
  ledger.spawned(nonce('gone'), gone!);
  ledger.gone(nonce('gone'));
  ledger.intent(nonce('reused')); // Its pid is another process now.
  ledger.spawned(nonce('reused'), { pid: reused!.pid, startTime: 'long ago' });

  expect(await reapDeadHosts(tools, runtimeDir)).toBeGreaterThanOrEqual(1);
  expect([known, unknown, gone, reused].map((each) => alive(each!.pid))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(readdirSync(runtimeDir)).toEqual([]);
});

test('of a living host, of one elsewhere and of one that cannot be told nothing is touched; of another boot only the folder goes', async () => {
  const runtimeDir = temporaryFolder();
  const scope = await processes.scope();
  const own = {
    id: 'x',
    pid: process.pid,
    startTime: (await startTimeOf(processes, process.pid))!,
  };
  const hosts: Record<string, HostIdentity> = {
    living: { ...own, ...scope },
    elsewhere: { ...own, startTime: 'long ago', ...scope, namespace: 'pid:[1]' },
    unknown: { ...own, startTime: 'long ago', ...scope, boot: '' },
    rebooted: { ...own, ...scope, boot: 'another' },
  };
  const held = await idler(`test-held-${process.pid}`);
  for (const [name, host] of Object.entries(hosts)) {
    const ledger = new Ledger(folderIn(runtimeDir, name), host);
    ledger.intent(`test-held-${process.pid}`);
    ledger.spawned(`test-held-${process.pid}`, held);
  }
  expect(await Promise.all(Object.values(hosts).map((host) => lifeOf(host, processes)))).toEqual([
    'living',
    'elsewhere',
    'living',
    'dead',
  ]);
  await reapDeadHosts(tools, runtimeDir);
  expect(alive(held.pid)).toBe(true);
  expect(readdirSync(runtimeDir).sort()).toEqual([
    'holdfast-elsewhere',
    'holdfast-living',
    'holdfast-unknown',
  ]);
});

test('a torn last line says nothing, and the lines before it count', async () => {
  const runtimeDir = temporaryFolder();
  const folder = folderIn(runtimeDir, 'torn');
  const left = await idler(`test-torn-${process.pid}`);
  const ledger = new Ledger(folder, await deadHost());
  ledger.intent(`test-torn-${process.pid}`);
  ledger.spawned(`test-torn-${process.pid}`, left);
  writeFileSync(path.join(folder, 'ledger'), '{"what":"gone","nonce":"test-to', { flag: 'a' });
  await reapDeadHosts(tools, runtimeDir);
  expect(alive(left.pid)).toBe(false);
});
