import { relativesOf } from './posix';
import type { FamilyMember, FamilyRoot, Processes } from './identity';
import { askTool } from './tool';

/** Windows: the CIM table by PowerShell for identities, taskkill for trees. It has no groups and shows no environments. */
export const windowsProcesses: Processes = {
  async scope() {
    const boot = await powershell('(Get-CimInstance Win32_OperatingSystem).LastBootUpTime.Ticks');
    return { boot: boot.trim(), namespace: '' };
  },
  async startTime(pid) {
    return (await table(`-Filter "ProcessId=${pid}"`))[0]?.startTime;
  },
  family,
  async signalGroup(pid, signal) {
    // There is no signal to ask with: without /F taskkill only closes windows, which a console program has none of.
    if (signal !== 'SIGKILL') return false;
    return (await askTool('taskkill.exe', ['/PID', String(pid), '/T', '/F'])) !== undefined;
  },
};

interface Row extends FamilyMember {
  readonly parent: number;
}

async function family({ pid: leader }: FamilyRoot): Promise<readonly FamilyMember[]> {
  const rows = await table('');
  const withoutGroups = rows.map(({ pid, parent }) => ({ pid, parent, group: -1 }));
  const relatives = relativesOf(leader, withoutGroups);
  return rows.filter(({ pid }) => relatives.has(pid));
}

async function table(filter: string): Promise<Row[]> {
  const script =
    `Get-CimInstance Win32_Process ${filter} | ForEach-Object { ` +
    `'{0} {1} {2} {3} {4}' -f $_.ProcessId, $_.ParentProcessId, $_.CreationDate.Ticks, $_.WorkingSetSize, $_.Name }`;
  return (await powershell(script)).split(/\r?\n/).flatMap((line) => {
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

async function powershell(script: string): Promise<string> {
  const args = ['-NoProfile', '-NonInteractive', '-Command', script];
  return (await askTool('powershell.exe', args)) ?? '';
}
