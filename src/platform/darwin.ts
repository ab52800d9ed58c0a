import { relativesOf, signalProcessGroup, type TableRow } from './posix';
import { askTool } from './tool';
import { NONCE_VARIABLE, type FamilyMember, type FamilyRoot, type Processes } from './identity';

interface Row extends TableRow {
  readonly startTime: string;
  readonly residentBytes: number;
  /** Program, arguments and, for this user's processes, environment. */
  readonly command: string;
}

/** macOS, and whatever else has a POSIX `ps`. */
export const darwinProcesses: Processes = {
  async scope() {
    const boot = await askTool('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']);
    return { boot: boot?.trim() ?? '', namespace: '' };
  },
  async startTime(pid) {
    return (await table(['-p', String(pid)]))[0]?.startTime;
  },
  family,
  signalGroup: signalProcessGroup,
};

async function family({ pid: leader, nonce }: FamilyRoot): Promise<readonly FamilyMember[]> {
  const rows = await table(['-A']);
  const mark = `${NONCE_VARIABLE}=${nonce}`;
  const marked = rows.filter((row) => row.command.includes(mark)).map((row) => row.pid);
  const relatives = relativesOf(leader, rows, marked);
  return rows
    .filter((row) => relatives.has(row.pid))
    .map(({ pid, startTime, residentBytes, command }) => ({
      pid,
      startTime,
      residentBytes,
      name: command.split(' ', 1)[0] ?? '?',
    }));
}

// lstart is five words, such as `Mon Nov 30 19:12:31 2026`; `-E` adds the environment to the command.
const LINE =
  /^\s*(?<pid>\d+)\s+(?<parent>\d+)\s+(?<group>\d+)\s+(?<state>\S+)\s+(?<kilobytes>\d+)\s+(?<start>(?:\S+\s+){4}\S+)\s+(?<command>.*)$/;

async function table(which: readonly string[]): Promise<Row[]> {
  const columns = 'pid=,ppid=,pgid=,state=,rss=,lstart=,command=';
  const text = await askTool('/bin/ps', ['-E', '-ww', ...which, '-o', columns]);
  return (text ?? '').split('\n').flatMap((line) => {
    const found = LINE.exec(line)?.groups;
    if (found === undefined || found['state']?.startsWith('Z') === true) return [];
    return [
      {
        pid: Number(found['pid']),
        parent: Number(found['parent']),
        group: Number(found['group']),
        residentBytes: Number(found['kilobytes']) * 1024,
        startTime: found['start'] ?? '',
        command: found['command'] ?? '',
      },
    ];
  });
}
