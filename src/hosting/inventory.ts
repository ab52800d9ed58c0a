import { readLedger } from '../ledger/ledger';
import { lifeOf, type HostLife } from '../ledger/reap';
import { platformProcesses, stateOf } from '../platform/processes';
import { readHostFile, type HostFile } from '../protocol/hostFile';
import { findRuntimeFolders } from '../protocol/runtimeFolder';

/** A kernel host's folder, of a living or a dead one, as it stands on disk. Nothing is changed by looking. */
export interface HostInventory {
  /** Absent: it has not got as far as its ledger. */
  readonly pid?: number;
  /** In the system's own words. */
  readonly startTime?: string;
  readonly life?: HostLife;
  readonly announced?: Pick<HostFile, 'client' | 'kernels' | 'version'>;
  /** What it has started and what is not known to be gone. */
  readonly entries: readonly EntryInventory[];
}

interface EntryInventory {
  readonly pid?: number;
  readonly startTime?: string;
  /** `intended`: its process may never have come to be. */
  readonly state: 'intended' | 'alive' | 'gone' | 'unknown';
}

/** What kernel hosts of this user have on record, whichever window they belong to. */
export async function takeInventory(runtimeDir?: string): Promise<readonly HostInventory[]> {
  const folders = await findRuntimeFolders(runtimeDir);
  return Promise.all(folders.map(inventoryOf));
}

async function inventoryOf(folder: string): Promise<HostInventory> {
  const processes = platformProcesses();
  const ledger = await readLedger(folder);
  // Before it announces itself, and after it has died while it wrote, there is nothing to read.
  const announced = await readHostFile(folder).catch(() => undefined);
  const host = ledger?.host ?? announced?.host;
  const entries = (ledger?.entries ?? []).map(async (entry): Promise<EntryInventory> => {
    if (!entry.process) return { state: 'intended' };
    const { pid, startTime } = entry.process;
    return { pid, startTime, state: await stateOf(processes, { pid, startTime }) };
  });
  return {
    ...(host && { pid: host.pid, life: await lifeOf(host, processes) }),
    ...(host?.startTime !== undefined && { startTime: host.startTime }),
    ...(announced && { announced }),
    entries: await Promise.all(entries),
  };
}
