import { readdirSync, readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { runningProcesses } from '../../support/processes/processTable';
import { until } from '../../support/until';

export const alive = (pid: number): boolean =>
  runningProcesses().some((process) => process.pid === pid);

/** Nobody announces the end of a process that is not our child: looked for until `limitMs`. */
export async function expectGone(pids: readonly number[], limitMs: number): Promise<void> {
  await until(() => !pids.some(alive), limitMs, 20);
  expect(runningProcesses().filter(({ pid }) => pids.includes(pid))).toEqual([]);
}

/** Ends the process at the test's end, whatever became of the test. */
export function endAfterTest(pid: number): void {
  onTestFinished(() => {
    if (alive(pid)) process.kill(pid, 'SIGKILL');
  });
}

/** Resident memory now and at its highest, in MiB. */
export function residentMebibytes(pid: number): { now: number; highest: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]);
  return { now: kilobytes('VmRSS') / 1024, highest: kilobytes('VmHWM') / 1024 };
}

export const openDescriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
