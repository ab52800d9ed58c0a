import { relativesOf, signalProcessGroup, type TableRow } from './posix';
import { askTool } from './tool';
import { NONCE_VARIABLE, type FamilyMember, type Processes, type Sighting } from './identity';

interface PsRow extends TableRow {
  readonly startTime: string;
  readonly isZombie: boolean;
  readonly residentBytes: number;
  /** Program, arguments and, for this user's processes, environment. */
  readonly command: string;
}

interface PosixTools {
  readonly ps: string;
  readonly sysctl: string;
  readonly timeoutMs?: number;
}

/** macOS, and whatever else has a POSIX `ps`. */
export function darwinProcesses(
  { ps, sysctl, timeoutMs }: PosixTools = { ps: '/bin/ps', sysctl: '/usr/sbin/sysctl' },
): Processes {
  const table = (which: readonly string[]) =>
    askTool(ps, ['-E', '-ww', ...which, '-o', COLUMNS], timeoutMs);
  return {
    async scope() {
      const boot = await askTool(sysctl, ['-n', 'kern.bootsessionuuid'], timeoutMs);
      return {
        boot: boot.kind === 'ended' && boot.code === 0 ? boot.stdout.trim() : '',
        namespace: '',
      };
    },
    async sight(pid): Promise<Sighting> {
      const answer = await table(['-p', String(pid)]);
      if (answer.kind === 'failed') return { is: 'unknown', why: answer.why };
      const { code, stdout, stderr } = answer;
      const row = parsePsTable(stdout).find((each) => each.pid === pid);
      if (row !== undefined) {
        return row.isZombie ? { is: 'gone' } : { is: 'alive', startTime: row.startTime };
      }
      // For a pid that nobody has, it prints nothing at all and ends with 1.
      if (code === 1 && stdout.trim() === '' && stderr.trim() === '') return { is: 'gone' };
      return { is: 'unknown', why: `${ps} ended with ${code}: ${stderr.trim()}` };
    },
    async family({ pid: leader, nonce }) {
      const answer = await table(['-A']);
      if (answer.kind === 'failed') return undefined;
      const rows = parsePsTable(answer.stdout);
      // A table without whoever asks for it is none.
      if (!rows.some(({ pid }) => pid === process.pid)) return undefined;
      return familyIn(
        rows.filter(({ isZombie }) => !isZombie),
        leader,
        nonce,
      );
    },
    signalGroup: signalProcessGroup,
  };
}

function familyIn(
  rows: readonly PsRow[],
  leader: number | undefined,
  nonce: string,
): readonly FamilyMember[] {
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

const COLUMNS = 'pid=,ppid=,pgid=,state=,rss=,lstart=,command=';

// lstart is five words, such as `Mon Nov 30 19:12:31 2026`; `-E` adds the environment to the command.
const LINE =
  /^\s*(?<pid>\d+)\s+(?<parent>\d+)\s+(?<group>\d+)\s+(?<state>\S+)\s+(?<kilobytes>\d+)\s+(?<start>(?:\S+\s+){4}\d{4})\s+(?<command>.*)$/;

/** Rows of `ps`, zombies too. Lines that are none (a command's own line ends) are left out. */
export function parsePsTable(text: string): readonly PsRow[] {
  return text.split('\n').flatMap((line) => {
    const found = LINE.exec(line)?.groups;
    if (found === undefined) return [];
    return [
      {
        pid: Number(found['pid']),
        parent: Number(found['parent']),
        group: Number(found['group']),
        isZombie: found['state']?.startsWith('Z') === true,
        residentBytes: Number(found['kilobytes']) * 1024,
        startTime: (found['start'] ?? '').replace(/\s+/g, ' '),
        command: found['command'] ?? '',
      },
    ];
  });
}
