import { stat } from 'node:fs/promises';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { stateOf, type Processes, type ProcessScope } from '../platform/processes';
import { isNobody, nameMembers, nameRemains, sweepFamily } from '../platform/sweep';
import { readHostFile, type HostIdentity } from '../protocol/hostFile';
import { findRuntimeFolders, removeRuntimeFolder } from '../protocol/runtimeFolder';
import { readLedger, type LedgerEntry } from './ledger';

const SWEEP_WITHIN_MS = 2_000;
/** A folder without a ledger belongs to a host that is being started, or to a start that was cut off. */
const STARTED_WITHIN_MS = 60_000;

interface ReapTools {
  readonly processes: Processes;
  readonly log: Log;
}

/** What became of a folder: only `dead` ones were touched. */
export type HostLife =
  /** It runs, or it cannot be told from one that runs. */
  | 'living'
  /** Of another pid namespace: its processes are not ours to judge. */
  | 'elsewhere'
  | 'dead';

/** Whether a host lives, by all that identifies it. */
export async function lifeOf(host: HostIdentity, processes: Processes): Promise<HostLife> {
  const scope = await processes.scope();
  // A system that does not tell its boot proves nothing.
  if (host.boot === '' || scope.boot === '') return 'living';
  if (host.boot !== scope.boot) return 'dead';
  if (host.namespace !== scope.namespace) return 'elsewhere';
  if (host.startTime === undefined) return 'living';
  const state = await stateOf(processes, { pid: host.pid, startTime: host.startTime });
  return state === 'gone' ? 'dead' : 'living';
}

/**
 * Ends what dead kernel hosts have left running, and removes their folders. Entries of living hosts, and whatever does
 * not match in all of pid, start time, boot and namespace, or by its nonce, are left alone. Resolves to how many folders
 * are gone. Any number of reapers may be at it at the same time.
 */
export async function reapDeadHosts(
  tools: ReapTools,
  runtimeDir: string | undefined,
): Promise<number> {
  let removed = 0;
  for (const folder of await findRuntimeFolders(runtimeDir)) {
    try {
      if (await reapFolder(folder, tools)) removed += 1;
    } catch (error) {
      tools.log.warn(`What is in ${folder} can't be told now: ${messageOf(error)}`);
    }
  }
  return removed;
}

/** The same for one folder. Resolves to whether it is gone, because its host is dead and nothing is left of that. */
export async function reapFolder(folder: string, tools: ReapTools): Promise<boolean> {
  const ledger = await readLedger(folder);
  if (ledger?.host === undefined) {
    if (!(await isAbandoned(folder, tools))) return false;
  } else {
    if ((await lifeOf(ledger.host, tools.processes)) !== 'dead') return false;
    const scope = await tools.processes.scope();
    if (!(await reapEntries(ledger.host, ledger.entries, scope, tools))) return false;
  }
  await removeRuntimeFolder(folder);
  return true;
}

async function isAbandoned(folder: string, { processes }: ReapTools): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(folder);
    if (Date.now() - mtimeMs <= STARTED_WITHIN_MS) return false;
    // Something may have taken the ledger alone.
    const { host } = await readHostFile(folder);
    return (await lifeOf(host, processes)) === 'dead';
  } catch (error) {
    // No announcement, or no folder any more.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Resolves to whether all of them are gone. */
async function reapEntries(
  host: HostIdentity,
  entries: readonly LedgerEntry[],
  scope: ProcessScope,
  tools: ReapTools,
): Promise<boolean> {
  // Nothing outlives a boot.
  if (host.boot !== scope.boot) return true;
  const ends = await Promise.all(entries.map((entry) => reapEntry(entry, tools)));
  return ends.every(Boolean);
}

async function reapEntry(
  { nonce, process: leader }: LedgerEntry,
  { processes, log }: ReapTools,
): Promise<boolean> {
  const state = leader === undefined ? 'gone' : await stateOf(processes, leader);
  // Not to be told now: for another time.
  if (state === 'unknown') return false;
  const root = leader !== undefined && state === 'alive' ? { ...leader, nonce } : { nonce };
  const family = await processes.family(root);
  if (family === undefined) return false;
  if (family.length === 0) return true;
  log.info(`A dead kernel host left ${nameMembers(family)}: ended.`);
  const remains = await sweepFamily(processes, root, family, SWEEP_WITHIN_MS);
  if (isNobody(remains)) return true;
  log.warn(`Of a dead kernel host there still is ${nameRemains(remains)}.`);
  return false;
}
