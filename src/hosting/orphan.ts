import { setTimeout as delay } from 'node:timers/promises';
import type { ShutdownOutcome } from '../kernel/kernel';
import type { ProcessIdentity, Processes } from '../platform/processes';

const GONE_WITHIN_MS = 2_000;

/**
 * Ends a kernel whose host is dead: its group, and only while pid and start time still name that very process. Resolves
 * to the evidence.
 */
export async function endOrphan(
  processes: Processes,
  { pid, startTime }: ProcessIdentity,
): Promise<ShutdownOutcome> {
  const deadline = Date.now() + GONE_WITHIN_MS;
  // It is no child of ours, so that its end is announced to nobody here: looked at again in growing steps.
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    if ((await processes.startTime(pid)) !== startTime) return { confirmed: true };
    if (Date.now() >= deadline) break;
    await processes.signalGroup(pid, 'SIGKILL');
    await delay(pauseMs, undefined, { ref: false });
  }
  return { confirmed: false, reason: `Process ${pid} is still there after SIGKILL.` };
}
