import { readdirSync, readFileSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { codeOf, messageOf } from '../base/errors';
import { relativesOf, signalProcessGroup, type TableRow } from './posix';
import {
  NONCE_VARIABLE,
  type FamilyMember,
  type FamilyRoot,
  type Processes,
  type Sighting,
} from './identity';

// A file of /proc takes some 10 µs to read: a long table is read in slices that leave room for other work.
const ROWS_PER_TURN = 200;

/** `proc`: where the process table is mounted. */
export function linuxProcesses(proc = '/proc'): Processes {
  return {
    async scope() {
      const [boot, namespace] = await Promise.all([
        bootId(proc).catch(() => ''),
        readlink(`${proc}/self/ns/pid`).catch(() => ''),
      ]);
      return { boot, namespace };
    },
    async sight(pid): Promise<Sighting> {
      try {
        const row = parseStat(pid, readProc(proc, pid, 'stat'));
        if (row === undefined) return { is: 'gone' };
        // Ticks since boot name a moment only together with the boot.
        return { is: 'alive', startTime: `${await bootId(proc)}/${row.ticks}` };
      } catch (error) {
        return { is: 'unknown', why: messageOf(error) };
      }
    },
    async family(root) {
      try {
        return await readFamily(proc, root);
      } catch {
        return undefined;
      }
    },
    signalGroup: signalProcessGroup,
  };
}

interface StatRow extends TableRow {
  /** When it began, in clock ticks since boot. */
  readonly ticks: string;
}

/** Throws when something could not be read that is there: then who is missing is not gone. */
async function readFamily(
  proc: string,
  { pid: leader, nonce }: FamilyRoot,
): Promise<readonly FamilyMember[]> {
  const boot = await bootId(proc);
  const mark = Buffer.from(`${NONCE_VARIABLE}=${nonce}`);
  const rows = new Map<number, StatRow>();
  const marked: number[] = [];
  let turn = 0;
  for (const name of readdirSync(proc)) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const row = parseStat(
      pid,
      ifOurs(() => readProc(proc, pid, 'stat')),
    );
    if (row === undefined) continue;
    rows.set(pid, row);
    if (ifOurs(() => readProc(proc, pid, 'environ'))?.includes(mark) === true) marked.push(pid);
    if (++turn % ROWS_PER_TURN === 0) await nextTurn();
  }
  return [...relativesOf(leader, [...rows.values()], marked)].flatMap((pid) => {
    const row = rows.get(pid);
    const status = ifOurs(() => readProc(proc, pid, 'status'))?.toString('utf8');
    if (row === undefined || status === undefined) return [];
    return [{ pid, startTime: `${boot}/${row.ticks}`, ...describe(status) }];
  });
}

function describe(status: string): { name: string; residentBytes: number } {
  const name = /^Name:\s*(.*)$/m.exec(status)?.[1] ?? '?';
  const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
  return { name, residentBytes: Number(kilobytes ?? 0) * 1024 };
}

/** /proc/<pid>/stat; undefined when there is no such process or only its zombie. */
function parseStat(pid: number, content: Buffer | undefined): StatRow | undefined {
  const stat = content?.toString('latin1');
  if (stat === undefined) return undefined;
  // The name in parentheses may hold spaces and parentheses itself. After it come state (field 3), parent (4),
  // group (5) and, as field 22, the start in ticks since boot.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  const ticks = fields[19];
  if (state === undefined || ticks === undefined) throw new Error(`No stat of ${pid}: ${stat}`);
  if (state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), ticks };
}

async function bootId(proc: string): Promise<string> {
  return (await readFile(`${proc}/sys/kernel/random/boot_id`, 'utf8')).trim();
}

/** undefined when there is no such process. Throws on any other failure: no descriptor left is no process gone. */
function readProc(proc: string, pid: number, file: string): Buffer | undefined {
  try {
    return readFileSync(`${proc}/${pid}/${file}`);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}

/** In the whole table others' processes are closed to us: they are no family of ours. */
function ifOurs<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
}
