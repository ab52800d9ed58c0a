import path from 'node:path';
import { relativesOf } from './posix';
import type { Delivery, FamilyMember, FamilyRoot, Processes, Sighting } from './identity';
import { askTool } from './tool';

interface CimRow extends FamilyMember {
  readonly parent: number;
}

interface WindowsTools {
  readonly powershell: string;
  readonly taskkill: string;
  readonly timeoutMs?: number;
}

/** Windows: the CIM table by PowerShell for identities, taskkill for trees. It has no groups and shows no environments. */
export function windowsProcesses(
  { powershell, taskkill, timeoutMs }: WindowsTools = systemTools(),
): Processes {
  const ask = async (script: string): Promise<string | undefined> => {
    const whole = `$ErrorActionPreference = 'Stop'; ${script}; '${END}'`;
    const args = ['-NoProfile', '-NonInteractive', '-Command', whole];
    const answer = await askTool(powershell, args, timeoutMs);
    return answer.kind === 'ended' && answer.code === 0 ? wholeAnswer(answer.stdout) : undefined;
  };
  const table = async (filter: string): Promise<readonly CimRow[] | undefined> => {
    const text = await ask(tableScript(filter));
    return text === undefined ? undefined : parseCimTable(text);
  };
  return {
    async scope() {
      const boot = await ask(
        '(Get-CimInstance Win32_OperatingSystem).LastBootUpTime.ToUniversalTime().Ticks',
      );
      return { boot: boot?.trim() ?? '', namespace: '' };
    },
    async sight(pid): Promise<Sighting> {
      const rows = await table(`-Filter "ProcessId=${pid}"`);
      if (rows === undefined) return { is: 'unknown', why: 'PowerShell did not tell.' };
      const row = rows.find((each) => each.pid === pid);
      if (row === undefined) return { is: 'gone' };
      if (row.startTime === UNTOLD) return { is: 'unknown', why: 'Its start is not told.' };
      return { is: 'alive', startTime: row.startTime };
    },
    async family(root) {
      const rows = await table('');
      // A table without whoever asks for it is none.
      if (rows?.some(({ pid }) => pid === process.pid) !== true) return undefined;
      return familyIn(rows, root);
    },
    async signalGroup(pid, signal): Promise<Delivery> {
      // There is no signal to ask with: without /F taskkill only closes windows, which a console program has none of.
      if (signal !== 'SIGKILL') return 'unable';
      const answer = await askTool(taskkill, ['/PID', String(pid), '/T', '/F'], timeoutMs);
      if (answer.kind === 'failed') return 'unable';
      // 128: no such process; 1: at least one of the tree could not be ended.
      if (answer.code === 128) return 'nobody';
      return answer.code === 0 ? 'sent' : 'forbidden';
    },
  };
}

/**
 * A parent's id stays with its children when it is gone, and may be somebody else's by then: who began before its parent
 * is no child of that.
 */
export function familyIn(
  rows: readonly CimRow[],
  { pid: leader, startTime: leaderStart }: FamilyRoot,
): readonly FamilyMember[] {
  const starts = new Map(rows.map(({ pid, startTime }) => [pid, startTime]));
  const now = leader === undefined ? undefined : starts.get(leader);
  const stranger = leaderStart !== undefined && now !== leaderStart ? now : undefined;
  const isChild = ({ parent, startTime }: CimRow): boolean => {
    if (parent === leader && stranger !== undefined && leaderStart !== undefined) {
      return isAtOrAfter(startTime, leaderStart) && !isAtOrAfter(startTime, stranger);
    }
    const before = starts.get(parent);
    if (before === undefined) return true;
    return isAtOrAfter(startTime, before);
  };
  const withoutGroups = rows.map((row) => ({
    pid: row.pid,
    parent: isChild(row) ? row.parent : -1,
    group: -1,
  }));
  const relatives = relativesOf(leader, withoutGroups);
  return rows
    .filter(({ pid }) => relatives.has(pid) && (pid !== leader || stranger === undefined))
    .map(({ pid, startTime, residentBytes, name }) => ({ pid, startTime, residentBytes, name }));
}

/** Of the system's own processes the start may not be told. */
const UNTOLD = '0';

function isAtOrAfter(startTime: string, other: string): boolean {
  return startTime !== UNTOLD && other !== UNTOLD && BigInt(startTime) >= BigInt(other);
}

function tableScript(filter: string): string {
  return (
    `Get-CimInstance Win32_Process ${filter} | ForEach-Object { ` +
    '$start = 0; if ($_.CreationDate) { $start = $_.CreationDate.ToUniversalTime().Ticks }; ' +
    `'{0} {1} {2} {3} {4}' -f $_.ProcessId, $_.ParentProcessId, $start, $_.WorkingSetSize, $_.Name }`
  );
}

export function parseCimTable(text: string): readonly CimRow[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, pid, parent, ticks, bytes, name] = /^(\d+) (\d+) (\d+) (\d+) (.*)$/.exec(line) ?? [];
    if (pid === undefined || ticks === undefined) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        startTime: ticks,
        residentBytes: Number(bytes),
        name: name ?? '?',
      },
    ];
  });
}

// Nothing found and nothing told look the same, but for a last word.
const END = 'holdfast: end';

/** What was printed before the last word; undefined without it. */
function wholeAnswer(stdout: string): string | undefined {
  const text = stdout.trimEnd();
  return text.endsWith(END) ? text.slice(0, -END.length) : undefined;
}

// By their paths: a program of the same name in the folder that this runs in would be taken first.
function systemTools(): WindowsTools {
  const system = path.win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32');
  return {
    powershell: path.win32.join(system, 'WindowsPowerShell', 'v1.0', 'powershell.exe'),
    taskkill: path.win32.join(system, 'taskkill.exe'),
  };
}
