import { codeOf } from '../base/errors';
import type { GroupSignal } from './identity';

/** kill(2) on a whole group. False when no process is left in it. */
export function signalProcessGroup(leader: number, signal: GroupSignal): Promise<boolean> {
  try {
    process.kill(-leader, signal);
    return Promise.resolve(true);
  } catch (error) {
    // macOS answers EPERM for a group of nothing but zombies.
    const code = codeOf(error);
    if (code === 'ESRCH' || code === 'EPERM') return Promise.resolve(false);
    throw error;
  }
}

export interface TableRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** The pids in `rows` that are the leader (where there is one), in its group, or come of one of those or of `seeds`. */
export function relativesOf(
  leader: number | undefined,
  rows: readonly TableRow[],
  seeds: Iterable<number> = [],
): Set<number> {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of rows) {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [pid]);
    else siblings.push(pid);
  }
  const open = [...seeds];
  if (leader !== undefined) {
    for (const { pid, group } of rows) if (pid === leader || group === leader) open.push(pid);
  }
  const found = new Set<number>();
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (found.has(pid)) continue;
    found.add(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return found;
}
