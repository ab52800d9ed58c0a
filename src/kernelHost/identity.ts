import { randomBytes } from 'node:crypto';
import { startTimeOf, type Processes } from '../platform/processes';
import type { HostIdentity } from '../protocol/hostFile';

/** What tells this very process from any other, now and later. */
export async function ownIdentity(processes: Processes): Promise<HostIdentity> {
  const { pid } = process;
  const [scope, startTime] = await Promise.all([processes.scope(), startTimeOf(processes, pid)]);
  const id = randomBytes(16).toString('hex');
  return { id, pid, ...scope, ...(startTime !== undefined && { startTime }) };
}
