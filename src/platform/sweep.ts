import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../base/errors';
import type { FamilyMember, FamilyRoot, Processes } from './identity';

/**
 * Ends what a leader left behind: its group, and those that left the group but are known or carry its nonce. Resolves,
 * at the latest after `limitMs`, to those still alive.
 */
export async function sweepFamily(
  processes: Processes,
  root: FamilyRoot,
  known: readonly FamilyMember[],
  limitMs: number,
): Promise<readonly FamilyMember[]> {
  const deadline = Date.now() + limitMs;
  const seen = new Map(known.map((member) => [member.pid, member]));
  // Others' children announce their end to nobody we could listen to: looked at again in growing steps.
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    for (const member of await processes.family(root)) seen.set(member.pid, member);
    const alive = await living(processes, [...seen.values()]);
    if (alive.length === 0 || Date.now() >= deadline) return alive;
    if (root.pid !== undefined) await processes.signalGroup(root.pid, 'SIGKILL');
    for (const { pid } of alive) killOne(pid);
    await delay(pauseMs);
  }
}

/** Those of whom pid and start time still name a living process. */
async function living(
  processes: Processes,
  members: readonly FamilyMember[],
): Promise<FamilyMember[]> {
  const alive: FamilyMember[] = [];
  for (const member of members) {
    if ((await processes.startTime(member.pid)) === member.startTime) alive.push(member);
  }
  return alive;
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // Gone meanwhile, or (EPERM) of another user: then it shows among the survivors.
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error;
  }
}

/** For people: "sleep (4711), bash (4712)". */
export function nameMembers(members: readonly FamilyMember[]): string {
  return members.map(({ name, pid }) => `${name} (${pid})`).join(', ');
}
