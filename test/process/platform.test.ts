import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { darwinProcesses } from '../../src/platform/darwin';
import { stateOf, type Processes } from '../../src/platform/identity';
import { linuxProcesses } from '../../src/platform/linux';
import { sweepFamily } from '../../src/platform/sweep';
import { windowsProcesses } from '../../src/platform/windows';
import { temporaryFolder } from './support/hosting';
import { endAfterTest } from './support/processes';

/** A tool that does what the script says. */
function tool(script: string): string {
  const file = path.join(temporaryFolder(), 'tool');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const macOs = (ps: string, timeoutMs = 5_000): Processes =>
  darwinProcesses({ ps: tool(ps), sysctl: tool('echo BOOT'), timeoutMs });
const windows = (powershell: string, taskkill = 'exit 0'): Processes =>
  windowsProcesses({ powershell: tool(powershell), taskkill: tool(taskkill), timeoutMs: 5_000 });

const known = { pid: 4711, startTime: 'Mon Nov 30 19:12:31 2026' };
const psLine = '4711 1 4711 Ss 2048 Mon Nov 30 19:12:31 2026 /bin/zsh -l';

test('macOS: ps tells of a process, of none, and of another under the same pid', async () => {
  expect(await stateOf(macOs(`echo '${psLine}'`), known)).toBe('alive');
  expect(await stateOf(macOs('exit 1'), known)).toBe('gone');
  expect(await stateOf(macOs(`echo '${psLine.replace('19:12:31', '20:00:00')}'`), known)).toBe(
    'gone',
  );
  expect(await stateOf(macOs(`echo '${psLine.replace('Ss', 'Z')}'`), known)).toBe('gone');
});

test.each([
  ['fails', 'echo "ps: cannot fork" >&2; exit 1'],
  ['is killed', 'kill -9 $$'],
  ['says something else', 'echo "usage: ps"; exit 0'],
  ['ends with nothing at all but a success', 'exit 0'],
])('macOS: a ps that %s is no evidence of a death', async (_how, script) => {
  const processes = macOs(script);
  expect(await stateOf(processes, known)).toBe('unknown');
  expect(await processes.family({ pid: 4711, nonce: 'n' })).toBeUndefined();
});

test('macOS: a ps that hangs is no evidence of a death, and is not waited for', async () => {
  const processes = macOs('trap "" TERM; exec sleep 600', 200);
  const before = Date.now();
  expect(await stateOf(processes, known)).toBe('unknown');
  expect(Date.now() - before).toBeLessThan(3_000);
  const missing = darwinProcesses({ ps: '/nowhere/ps', sysctl: '/nowhere/sysctl' });
  expect(await stateOf(missing, known)).toBe('unknown');
  expect(await missing.scope()).toEqual({ boot: '', namespace: '' });
});

test('macOS: times are asked for in UTC and in the C locale', async () => {
  const processes = macOs(`echo "4711 1 4711 S 1 Mon Nov 30 19:12:31 2026 $TZ $LC_ALL $*" >&2
[ "$TZ/$LC_ALL" = UTC/C ] && echo '${psLine}'`);
  expect(await stateOf(processes, known)).toBe('alive');
});

const end = "'holdfast: end'";
const ticks = { pid: 4711, startTime: '639161923510000000' };
const row = `4711 1 ${ticks.startTime} 1000 python.exe`;

test('Windows: PowerShell tells of a process and of none', async () => {
  expect(await stateOf(windows(`echo '${row}'; echo ${end}`), ticks)).toBe('alive');
  expect(await stateOf(windows(`echo ${end}`), ticks)).toBe('gone');
  const untold = row.replace(ticks.startTime, '0');
  expect(await stateOf(windows(`echo '${untold}'; echo ${end}`), ticks)).toBe('unknown');
});

test.each([
  ['fails', 'echo "Get-CimInstance : Access denied" >&2; exit 1'],
  ['ends early', 'exit 0'],
  ['is cut off', `echo '${row}'`],
])('Windows: a PowerShell that %s is no evidence of a death', async (_how, script) => {
  const processes = windows(script);
  expect(await stateOf(processes, ticks)).toBe('unknown');
  expect(await processes.family({ pid: 4711, nonce: 'n' })).toBeUndefined();
  expect((await processes.scope()).boot).toBe('');
});

test('Windows: the table is asked for in UTC; whether taskkill reached anybody is told apart', async () => {
  const asks = windows(`case "$*" in *ToUniversalTime*) echo '${row}'; echo ${end};; esac`);
  expect(await stateOf(asks, ticks)).toBe('alive');
  const deliveries = await Promise.all(
    ['exit 0', 'exit 128', 'exit 1', 'kill -9 $$'].map((taskkill) =>
      windows('exit 1', taskkill).signalGroup(4711, 'SIGKILL'),
    ),
  );
  expect(deliveries).toEqual(['sent', 'nobody', 'forbidden', 'unable']);
});

test('Linux: only a missing file means that a process is gone', async () => {
  const proc = temporaryFolder();
  mkdirSync(path.join(proc, 'sys/kernel/random'), { recursive: true });
  const bootId = path.join(proc, 'sys/kernel/random/boot_id');
  writeFileSync(bootId, 'boot\n');
  // Reading a folder fails, as reading fails where no descriptor is left.
  mkdirSync(path.join(proc, '4711/stat'), { recursive: true });
  const processes = linuxProcesses(proc);
  expect((await processes.sight(4711)).is).toBe('unknown');
  expect(await processes.family({ pid: 4711, nonce: 'n' })).toBeUndefined();
  expect((await processes.sight(4712)).is).toBe('gone');
});

test('Linux: without a boot id nothing is thrown and nothing is told', async () => {
  const proc = temporaryFolder();
  mkdirSync(path.join(proc, '4711'));
  writeFileSync(path.join(proc, '4711/stat'), `4711 (a) S 1 4711 ${'0 '.repeat(16)}77 0`);
  const processes = linuxProcesses(proc);
  expect((await processes.sight(4711)).is).toBe('unknown');
  expect(await processes.family({ pid: 4711, nonce: 'n' })).toBeUndefined();
  expect((await processes.scope()).boot).toBe('');
});

test('a sweep that cannot look claims nothing, and ends nobody whose identity it cannot tell', async () => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  endAfterTest(pid);
  const blind = macOs('exit 2');
  const member = { pid, startTime: 'then', name: 'sleep', residentBytes: 0 };
  expect(await sweepFamily(blind, { nonce: 'n' }, [member], 50)).toEqual({
    survivors: [member],
    isWhole: false,
  });
  expect(child.exitCode ?? child.signalCode).toBeNull();
});
