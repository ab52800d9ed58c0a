import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject } from 'vitest';
import { runnersDir, temporaryFolder } from './hosting';
import { alive, endAfterTest } from './processes';

/** Code that leaves two children, one of them in a session of its own. */
export const leaveChildren = `
import subprocess
children = [subprocess.Popen(['sleep', '600'], start_new_session=own).pid for own in (False, True)]
print(*children, flush=True)
`;

/** The same, and then it heeds neither SIGTERM nor interrupts. */
export const busy = `${leaveChildren}
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try:
        while True: id(0)
    except KeyboardInterrupt: pass
`;

export interface StandIn {
  readonly pid: number;
  readonly hostPid: number;
  readonly runtimeDir: string;
  readonly hostScript: string;
  readonly kernels: readonly { readonly pid: number; readonly printed: string }[];
  /** Kernels and the children that their code started. */
  readonly family: readonly number[];
  /** Closes its stdin: it says goodbye. */
  leave(): void;
}

export interface StandInOptions {
  readonly graceMs?: number;
  /** One kernel for each, which has to print something; what starts with a number counts as pids. */
  readonly codes?: readonly string[];
  /** Where an earlier one had it. */
  readonly runtimeDir?: string;
}

/** An extension host of another process; by default with an idle kernel and a stubborn busy one, each with children. */
export async function standIn({
  graceMs = 0,
  codes = [leaveChildren, busy],
  runtimeDir: given,
}: StandInOptions = {}): Promise<StandIn> {
  const runtimeDir = given ?? path.join(temporaryFolder(), 'run');
  mkdirSync(runtimeDir, { recursive: true });
  const hostScript = inject('kernelHostScript');
  const assignment = { hostScript, runnersDir, runtimeDir, interpreter: 'python3', codes, graceMs };
  const child = spawn(process.execPath, [inject('standInScript'), JSON.stringify(assignment)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const pid = child.pid ?? 0;
  endAfterTest(pid);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { hostPid, kernels } = JSON.parse(line) as Pick<StandIn, 'hostPid' | 'kernels'>;
  const children = kernels.flatMap((each) => each.printed.split(' ').map(Number));
  const family = [...kernels.map((each) => each.pid), ...children.filter((each) => each > 1)];
  [hostPid, ...family].forEach(endAfterTest);
  expect([hostPid, ...family].filter((each) => !alive(each))).toEqual([]);
  return { pid, hostPid, runtimeDir, hostScript, kernels, family, leave: () => child.stdin.end() };
}
