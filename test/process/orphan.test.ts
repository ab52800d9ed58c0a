import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { endOrphan } from '../../src/hosting/orphan';
import { NONCE_VARIABLE, platformProcesses, startTimeOf } from '../../src/platform/processes';
import { alive, endAfterTest } from './support/processes';

const processes = platformProcesses();

test('a kernel whose host is dead takes with it those that left its group, with its mark and without', async () => {
  const nonce = `test-orphan-${process.pid}`;
  const code = `
import subprocess, time
clean = {'PATH': '/usr/bin:/bin'}
same, own, unmarked = [subprocess.Popen(['sleep', '600'], start_new_session=own, env=env).pid
                       for own, env in ((False, None), (True, None), (True, clean))]
print(same, own, unmarked, flush=True)
time.sleep(600)`;
  const env = { ...process.env, [NONCE_VARIABLE]: nonce };
  const leader = spawn('python3', ['-c', code], { detached: true, env });
  const [line] = (await once(createInterface(leader.stdout), 'line')) as [string];
  const children = line.split(' ').map(Number);
  const pid = leader.pid ?? 0;
  [pid, ...children].forEach(endAfterTest);
  const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  await once(stranger, 'spawn');
  endAfterTest(stranger.pid ?? 0);

  const startTime = (await startTimeOf(processes, pid)) ?? '';
  expect(await endOrphan(processes, { pid, startTime, nonce })).toEqual({ confirmed: true });
  expect([pid, ...children].map(alive)).toEqual([false, false, false, false]);

  // The pid may be another's by now: that one stays.
  const reused = { pid: stranger.pid ?? 0, startTime: 'long ago', nonce };
  expect(await endOrphan(processes, reused)).toEqual({ confirmed: true });
  expect(alive(stranger.pid ?? 0)).toBe(true);
});

test('a kernel of which nothing can be told is neither ended nor called dead', async () => {
  const idle = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  await once(idle, 'spawn');
  const pid = idle.pid ?? 0;
  endAfterTest(pid);
  const blind = {
    ...processes,
    sight: () => Promise.resolve({ is: 'unknown', why: 'no descriptors' } as const),
    family: () => Promise.resolve(undefined),
  };
  const startTime = (await startTimeOf(processes, pid)) ?? '';
  expect(await endOrphan(blind, { pid, startTime, nonce: 'n' })).toEqual({
    confirmed: false,
    reason: `Whether process ${pid} is gone cannot be told now.`,
  });
  expect(alive(pid)).toBe(true);
});
