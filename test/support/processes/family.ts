import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { until } from '../until';
import { type RunningProcess, descendantsOf, markedWith, runningProcesses } from './processTable';

const mark = 'HOLDFAST_TEST_FAMILY';

/** A child and everything that came of it, detached grandchildren of dead parents included. */
export interface ProcessFamily {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Who is alive now: the child first, when it is. */
  members(): RunningProcess[];
  /**
   * Asks the child to end (SIGTERM), gives the whole family `graceMs` to leave by itself, and ends the rest. Resolves,
   * when nobody is left, to those that had to be ended.
   */
  end(graceMs?: number): Promise<RunningProcess[]>;
}

/** Starts a child as the head of a family. Its process group is its own, so that a terminal's Ctrl+C is ours to pass on. */
export function startFamily(
  command: string,
  args: readonly string[],
  options: SpawnOptions & { env: NodeJS.ProcessEnv },
): ProcessFamily {
  const nonce = crypto.randomUUID();
  const child = spawn(command, args, {
    ...options,
    env: { ...options.env, [mark]: nonce },
    detached: true,
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command} did not start`);

  const members = (): RunningProcess[] => {
    const table = runningProcesses();
    const head = hasEnded(child) ? [] : table.filter((each) => each.pid === pid);
    // Not every process hands its whole environment on to its children.
    const marked = markedWith(mark, nonce, table);
    const others = [
      ...descendantsOf(pid, table),
      ...marked.flatMap((each) => [each, ...descendantsOf(each.pid, table)]),
    ];
    const unique = new Map([...head, ...others].map((each) => [each.pid, each]));
    return [...unique.values()];
  };

  const end = async (graceMs = 5_000): Promise<RunningProcess[]> => {
    if (!hasEnded(child)) child.kill('SIGTERM');
    if (await until(() => members().length === 0, graceMs)) return [];
    const stubborn = members();
    for (const each of stubborn) kill(each.pid);
    if (await until(() => members().length === 0, 5_000)) return stubborn;
    throw new Error(`still running: ${members().map(describe).join(', ')}`);
  };

  return { child, pid, members, end };
}

export const describe = ({ pid, command }: RunningProcess): string =>
  `${pid} ${command.slice(0, 160)}`;

const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
