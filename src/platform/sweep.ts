import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../base/errors';
import { stateOf, type FamilyMember, type FamilyRoot, type Processes } from './identity';

/** What is left of a family. */
export interface Remains {
  /** Those still alive, or that cannot be told. */
  readonly survivors: readonly FamilyMember[];
  /** Everybody was looked for: without it, no survivors is no evidence that there are none. */
  readonly isWhole: boolean;
}

/** Nobody is left, for certain. */
export function isNobody({ survivors, isWhole }: Remains): boolean {
  return isWhole && survivors.length === 0;
}

/**
 * Ends what a leader left behind: its group, and those that left the group but are known or carry its nonce. Resolves,
 * at the latest one look after `limitMs`, to what is left. Never rejects.
 */
export async function sweepFamily(
  processes: Processes,
  root: FamilyRoot,
  known: readonly FamilyMember[],
  limitMs: number,
): Promise<Remains> {
  const deadline = Date.now() + limitMs;
  const seen = new Map(known.map((member) => [member.pid, member]));
  // Others' children announce their end to nobody we could listen to: looked at again in growing steps.
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    const found = await processes.family(root);
    for (const member of found ?? []) seen.set(member.pid, member);
    const { alive, unknown } = await states(processes, [...seen.values()]);
    const remains = { survivors: [...alive, ...unknown], isWhole: found !== undefined };
    if (isNobody(remains) || Date.now() >= deadline) return remains;
    // Whoever cannot be told, one or a whole group, may be a stranger by now.
    if (found !== undefined && root.pid !== undefined) {
      await processes.signalGroup(root.pid, 'SIGKILL');
    }
    for (const { pid } of alive) killOne(pid);
    await delay(pauseMs);
  }
}

async function states(
  processes: Processes,
  members: readonly FamilyMember[],
): Promise<{ alive: FamilyMember[]; unknown: FamilyMember[] }> {
  const alive: FamilyMember[] = [];
  const unknown: FamilyMember[] = [];
  for (const member of members) {
    const state = await stateOf(processes, member);
    if (state === 'alive') alive.push(member);
    if (state === 'unknown') unknown.push(member);
  }
  return { alive, unknown };
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

/** For people: who is left, or that nobody knows. */
export function nameRemains({ survivors, isWhole }: Remains): string {
  const rest = 'what else it may have left behind cannot be told now';
  if (survivors.length === 0) return isWhole ? 'nobody' : rest;
  return isWhole ? nameMembers(survivors) : `${nameMembers(survivors)}; ${rest}`;
}
