import { codeOf } from '../base/errors';
import type { Delivery, GroupSignal } from './identity';

/** kill(2) on a whole group. Throws for what can be no kernel's: 0 and 1 mean one's own group and everybody. */
export function signalProcessGroup(leader: number, signal: GroupSignal): Promise<Delivery> {
  if (!Number.isInteger(leader) || leader <= 1) {
    throw new RangeError(`${leader} is no process group of a kernel.`);
  }
  try {
    process.kill(-leader, signal);
    return Promise.resolve('sent');
  } catch (error) {
    // macOS answers EPERM for a group of nothing but zombies too: whether anybody is left, a look at the table tells.
    switch (codeOf(error)) {
      case 'ESRCH':
        return Promise.resolve('nobody');
      case 'EPERM':
        return Promise.resolve('forbidden');
      default:
        throw error;
    }
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
