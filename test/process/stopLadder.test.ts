import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import type { StopProgress } from '../../src/kernel/kernel';
import { STOP_DEADLINES } from '../../src/kernel/limits';
import { ownIdentity } from '../../src/kernelHost/identity';
import { spawnLeader } from '../../src/kernelHost/process/spawn';
import { StopLadder } from '../../src/kernelHost/process/stopLadder';
import { Ledger } from '../../src/ledger/ledger';
import { platformProcesses, startTimeOf } from '../../src/platform/processes';
import {
  hostingForTest,
  run,
  startPython,
  temporaryFolder,
  type FullKernel,
} from './support/hosting';
import { alive, endAfterTest, expectGone } from './support/processes';

/** The steps before the kill of an unlimited stop of a busy kernel: 200, 2,000 and 2,000 ms. */
const UNHURRIED_MS = 4_200;

function stepsOf(kernel: FullKernel): StopProgress['step'][] {
  const steps: StopProgress['step'][] = [];
  kernel.onDidStopStep(({ step }) => steps.push(step));
  return steps;
}

const stubborn = `
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def spin():
    while True: id(0)
print("stubborn")
while True:
    try:
        spin() # in a call: CPython 3.11 lets an interrupt at a loop's jump escape a try around the loop itself
    except KeyboardInterrupt:
        pass
`;

test('SIGTERM ignored in a busy loop: escalates to SIGKILL, confirmed, every step visible (vscode-jupyter 9442)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const steps = stepsOf(kernel);
  const busy = run(kernel, stubborn);
  await busy.saw('stubborn');

  // Without a limit: in a short one a busy machine may leave a step no time.
  expect(await kernel.shutdown()).toEqual({ confirmed: true });

  expect(steps).toEqual(['ask', 'interrupt', 'terminate', 'kill', 'sweep']);
  expect(kernel.isStopping()).toBe(true);
  expect(kernel.exit).toMatchObject({ signal: 'SIGKILL', code: null });
  expect(await busy.reply).toMatchObject({ status: 'error', cancelled: true });
  expect(alive(kernel.pid)).toBe(false);
});

test('an unlimited stop joins a limited one, and a limited one hurries an unlimited one', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const steps = stepsOf(kernel);
  await run(kernel, stubborn).saw('stubborn');

  const before = performance.now();
  const outcomes = [kernel.shutdown(), kernel.shutdown({ timeoutMs: 700 }), kernel.shutdown()];
  expect(await Promise.all(outcomes)).toEqual(Array(3).fill({ confirmed: true }));

  // Not hurried, it would have taken the deadlines of all steps before the kill.
  expect(performance.now() - before).toBeLessThan(UNHURRIED_MS);
  expect(steps.filter((step) => step === 'kill')).toHaveLength(1);
});

test('children in the group and with a session of their own are gone after a stop (vscode-jupyter 11018)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const started = run(
    kernel,
    `
import subprocess
for n in range(4):
    clean = {'PATH': '/usr/bin:/bin'} if n == 3 else None
    child = subprocess.Popen(['sleep', '600'], start_new_session=n > 1, env=clean)
    print(child.pid)
`,
  );
  await started.reply;
  const children = started.text().trim().split('\n').map(Number);
  children.forEach(endAfterTest);
  expect(children.map(alive)).toEqual([true, true, true, true]);

  expect(await kernel.shutdown({ timeoutMs: 2_000 })).toEqual({ confirmed: true });

  expect(children.map(alive)).toEqual([false, false, false, false]);
});

test('children that a crashed kernel left behind are swept too', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const crash = run(
    kernel,
    `
import os, subprocess
print(*(subprocess.Popen(['sleep', '600'], start_new_session=own).pid for own in (False, True)), flush=True)
input()
`,
    { onInput: () => Promise.resolve('go') },
  );
  await crash.reply;
  const children = crash.text().trim().split(' ').map(Number);
  children.forEach(endAfterTest);
  await run(kernel, 'os.kill(os.getpid(), 9)').reply;
  await expectGone(children, 2_000);
});

test('a kernel stopped by SIGSTOP: the SIGKILL of the ladder confirms', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  process.kill(kernel.pid, 'SIGSTOP');
  expect(await kernel.shutdown({ timeoutMs: 1_000 })).toEqual({ confirmed: true });
  expect(kernel.exit?.signal).toBe('SIGKILL');
});

test('a kernel behind a login shell script: the grandchild dies too (positron 8115)', async () => {
  const wrapper = path.join(temporaryFolder(), 'python-by-shell');
  writeFileSync(wrapper, '#!/bin/bash -l\npython3 "$@"\nexit $?\n');
  chmodSync(wrapper, 0o755);
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting, { interpreter: wrapper });
  const busy = run(kernel, 'import os\nprint(os.getpid())\nwhile True: pass');
  await busy.saw('\n');
  const grandchild = Number(busy.text());
  endAfterTest(grandchild);
  expect(grandchild).not.toBe(kernel.pid);

  expect(await kernel.shutdown({ timeoutMs: 2_000 })).toEqual({ confirmed: true });

  expect([alive(kernel.pid), alive(grandchild)]).toEqual([false, false]);
});

test('kill ends the group at once, with evidence', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const steps = stepsOf(kernel);
  await run(kernel, stubborn).saw('stubborn');
  expect(await kernel.kill()).toEqual({ confirmed: true });
  expect(steps).toEqual(['kill', 'sweep']);
  expect(await kernel.shutdown()).toEqual({ confirmed: true });
});

test('a sweep that finds no descriptor left: the exit is confirmed in time, and it is tried until it works', async () => {
  const folder = temporaryFolder();
  const processes = platformProcesses();
  const leader = await spawnLeader(
    {
      command: 'bash',
      args: ['-c', 'sleep 600 & echo $!; wait'],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
      addedEnv: {},
    },
    new Ledger(folder, await ownIdentity(processes)),
  );
  const [line] = (await once(leader.stdout, 'data')) as [Buffer];
  const child = Number(line.toString());
  [leader.pid, child].forEach(endAfterTest);
  // Its group is left alone, so that there is something to sweep.
  let outOfDescriptors = true;
  const ladder = new StopLadder(
    {
      leader,
      startTime: startTimeOf(processes, leader.pid),
      isBusy: () => false,
      ask: () => void process.kill(leader.pid, 'SIGKILL'),
      interrupt: () => Promise.resolve(),
    },
    {
      ...processes,
      family: (root) => (outOfDescriptors ? Promise.resolve(undefined) : processes.family(root)),
    },
    () => ({ ...STOP_DEADLINES, sweep: 500 }),
    () => undefined,
    silentLog,
  );

  const before = Date.now();
  expect(await ladder.stop()).toEqual({
    confirmed: true,
    reason: 'What it left behind is still being looked for: The process table cannot be read now.',
  });
  expect(Date.now() - before).toBeLessThan(2_000);
  expect(alive(child)).toBe(true);

  outOfDescriptors = false;
  await ladder.swept;
  expect(alive(child)).toBe(false);
  expect(ladder.leftNobody).toBe(true);
  expect(await ladder.stop()).toEqual({ confirmed: true });
});
