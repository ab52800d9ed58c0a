import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

export interface RunningProcess {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
}

/** Every process of the machine that is not a zombie, as of now. */
export function runningProcesses(): RunningProcess[] {
  return process.platform === 'linux' ? fromProc() : fromPs();
}

/** `pid`'s children and theirs, without `pid` itself. A child whose parent died is no descendant: see `markedWith`. */
export function descendantsOf(pid: number, table = runningProcesses()): RunningProcess[] {
  const children = table.filter((each) => each.parentPid === pid);
  return children.flatMap((child) => [child, ...descendantsOf(child.pid, table)]);
}

/**
 * The processes that were started with `name=value` in their environment, which children inherit even when they detach
 * and their parents die. Only Linux tells; elsewhere the answer is empty.
 */
export function markedWith(
  name: string,
  value: string,
  table = runningProcesses(),
): RunningProcess[] {
  if (process.platform !== 'linux') return [];
  const wanted = `${name}=${value}`;
  return table.filter((each) => environmentOf(each.pid).includes(wanted));
}

function environmentOf(pid: number): string[] {
  return readProc(pid, 'environ').split('\0');
}

function fromProc(): RunningProcess[] {
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    const stat = readProc(Number(name), 'stat');
    // The command in parentheses may itself hold spaces and parentheses: fields are counted from the last one.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (stat === '' || state === 'Z' || parent === undefined) return [];
    const command = readProc(Number(name), 'cmdline').split('\0').join(' ').trim();
    return [{ pid: Number(name), parentPid: Number(parent), command }];
  });
}

/** Empty when the process has ended meanwhile or belongs to somebody else. */
function readProc(pid: number, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function fromPs(): RunningProcess[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,state=,args='], { encoding: 'utf8' });
  return lines.split('\n').flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || state?.startsWith('Z')) return [];
    return [{ pid: Number(pid), parentPid: Number(parent), command: command ?? '' }];
  });
}
