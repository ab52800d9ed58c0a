import { setTimeout as delay } from 'node:timers/promises';
import type { ShutdownOutcome } from '../kernel/kernel';
import { stateOf, type ProcessIdentity, type Processes } from '../platform/processes';
import { isNobody, nameRemains, sweepFamily } from '../platform/sweep';

const GONE_WITHIN_MS = 2_000;
const SWEEP_WITHIN_MS = 1_000;
// Where a look at the process table is slow (a tool has to be run), the kill does not wait for it longer than this.
const FIRST_LOOK_MS = 1_000;

/**
 * Ends a kernel whose host is dead: its group, only while pid and start time still name that very process, and all that
 * left the group but came of it or carry its mark. Resolves to the evidence.
 */
export async function endOrphan(
  processes: Processes,
  leader: ProcessIdentity & { readonly nonce: string },
): Promise<ShutdownOutcome> {
  const { pid, startTime, nonce } = leader;
  let state = await stateOf(processes, leader);
  // As long as the leader lives: afterwards those that carry no mark can't be told from others.
  const look = state === 'alive' ? processes.family({ pid, startTime, nonce }) : undefined;
  const known = await Promise.race([look, delay(FIRST_LOOK_MS, undefined, { ref: false })]);
  const deadline = Date.now() + GONE_WITHIN_MS;
  // It is no child of ours, so that its end is announced to nobody here: looked at again in growing steps.
  for (let pauseMs = 1; state !== 'gone'; pauseMs = Math.min(pauseMs * 2, 100)) {
    if (Date.now() >= deadline) return { confirmed: false, reason: whyNot(pid, state) };
    if (state === 'alive') await processes.signalGroup(pid, 'SIGKILL');
    await delay(pauseMs, undefined, { ref: false });
    state = await stateOf(processes, leader);
  }
  const others = (known ?? []).filter((member) => member.pid !== pid);
  const remains = await sweepFamily(processes, { nonce }, others, SWEEP_WITHIN_MS);
  return isNobody(remains)
    ? { confirmed: true }
    : { confirmed: true, reason: `Outlived the kernel: ${nameRemains(remains)}.` };
}

function whyNot(pid: number, state: 'alive' | 'unknown'): string {
  return state === 'alive'
    ? `Process ${pid} is still there after SIGKILL.`
    : `Whether process ${pid} is gone cannot be told now.`;
}
