import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { relativesOf, signalProcessGroup, type TableRow } from './posix';
import { NONCE_VARIABLE, type FamilyMember, type FamilyRoot, type Processes } from './identity';

// A file of /proc takes some 10 µs to read: a long table is read in slices that leave room for other work.
const ROWS_PER_TURN = 200;

interface Row extends TableRow {
  readonly startTime: string;
}

export const linuxProcesses: Processes = {
  scope: () => Promise.resolve({ boot: bootId(), namespace: readlinkSync('/proc/self/ns/pid') }),
  startTime: (pid) => Promise.resolve(readRow(pid, bootId())?.startTime),
  family,
  signalGroup: signalProcessGroup,
};

async function family({ pid: leader, nonce }: FamilyRoot): Promise<readonly FamilyMember[]> {
  const boot = bootId();
  const mark = Buffer.from(`${NONCE_VARIABLE}=${nonce}`);
  const rows = new Map<number, Row>();
  const marked: number[] = [];
  let turn = 0;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const row = readRow(pid, boot);
    if (row === undefined) continue;
    rows.set(pid, row);
    if (readProc(pid, 'environ')?.includes(mark) === true) marked.push(pid);
    if (++turn % ROWS_PER_TURN === 0) await nextTurn();
  }
  return [...relativesOf(leader, [...rows.values()], marked)].flatMap((pid) => {
    const row = rows.get(pid);
    const status = readProc(pid, 'status')?.toString('utf8');
    if (row === undefined || status === undefined) return [];
    return [{ pid, startTime: row.startTime, ...describe(status) }];
  });
}

function describe(status: string): { name: string; residentBytes: number } {
  const name = /^Name:\s*(.*)$/m.exec(status)?.[1] ?? '?';
  const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
  return { name, residentBytes: Number(kilobytes ?? 0) * 1024 };
}

/** /proc/<pid>/stat; undefined when there is no such process or only its zombie. */
function readRow(pid: number, boot: string): Row | undefined {
  const stat = readProc(pid, 'stat')?.toString('latin1');
  if (stat === undefined) return undefined;
  // The name in parentheses may hold spaces and parentheses itself. After it come state (field 3), parent (4),
  // group (5) and, as field 22, the start in ticks since boot.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  const ticks = fields[19];
  if (state === undefined || ticks === undefined || state === 'Z' || state === 'X')
    return undefined;
  return { pid, parent: Number(parent), group: Number(group), startTime: `${boot}/${ticks}` };
}

// Ticks since boot name a moment only together with the boot.
function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** undefined when the process ended meanwhile or belongs to somebody else. */
function readProc(pid: number, file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
