import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { NONCE_VARIABLE } from '../../src/platform/processes';

/** Carried by all that the chaos starts; its value is the run's own. */
export const CHAOS_MARK = 'HOLDFAST_CHAOS';
/** And this one names the window that it came from. */
export const SLOT_MARK = 'HOLDFAST_CHAOS_WINDOW';

export interface Living {
  readonly pid: number;
  /** Ticks since boot: with the pid it names a process for good. */
  readonly start: string;
  readonly isStopped: boolean;
  readonly slot: string;
  /** Of the kernel that it is, or came from. */
  readonly nonce: string | undefined;
  readonly command: string;
}

export const nameOf = ({ pid, start }: { pid: number; start: string }): string => `${pid}/${start}`;

/** Every process that came of the chaos and is more than a zombie. Only Linux tells. */
export function census(mark: string): Living[] {
  const wanted = `${CHAOS_MARK}=${mark}`;
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const environment = read(`/proc/${name}/environ`).split('\0');
    if (!environment.includes(wanted)) return [];
    const status = statusOf(Number(name));
    if (status === undefined) return [];
    const valueOf = (variable: string): string | undefined =>
      environment.find((each) => each.startsWith(`${variable}=`))?.slice(variable.length + 1);
    return [
      {
        pid: Number(name),
        ...status,
        slot: valueOf(SLOT_MARK) ?? '',
        nonce: valueOf(NONCE_VARIABLE),
        command: read(`/proc/${name}/cmdline`).split('\0').join(' ').trim(),
      },
    ];
  });
}

/** undefined: it is gone, or no more than a zombie. */
export function statusOf(pid: number): { start: string; isStopped: boolean } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  if (state === undefined || state === '' || state === 'Z' || state === 'X') return undefined;
  return { start: fields[19] ?? '', isStopped: state === 'T' };
}

export function nonceOf(pid: number): string | undefined {
  const entry = read(`/proc/${pid}/environ`)
    .split('\0')
    .find((each) => each.startsWith(`${NONCE_VARIABLE}=`));
  return entry?.slice(NONCE_VARIABLE.length + 1);
}

/** Which host answers for which kernel, by what the hosts have written down: nonce to the host's pid. */
export function ledgers(runtimeDir: string): { hostOf: Map<string, number>; folders: string[] } {
  const hostOf = new Map<string, number>();
  const folders = readdirSync(runtimeDir).filter((name) => name.startsWith('holdfast-'));
  for (const folder of folders) {
    let host: number | undefined;
    for (const line of read(path.join(runtimeDir, folder, 'ledger')).split('\n')) {
      const entry = parse(line);
      if (entry?.host) host = entry.host.pid;
      if (entry?.nonce !== undefined && host !== undefined) hostOf.set(entry.nonce, host);
    }
  }
  return { hostOf, folders };
}

interface Line {
  readonly host?: { readonly pid: number };
  readonly nonce?: string;
}

/** The last line of a host that was killed may be torn. */
function parse(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return undefined;
  }
}

/** The pid of the host whose folder it is, as its ledger's first line says. */
export function hostOfFolder(folder: string): number | undefined {
  return parse(read(path.join(folder, 'ledger')).split('\n')[0] ?? '')?.host?.pid;
}

/** Local sockets that somebody listens at, by path, below a folder. */
export function listeningBelow(folder: string): string[] {
  return read('/proc/net/unix')
    .split('\n')
    .flatMap((line) => line.trim().split(/\s+/)[7] ?? [])
    .filter((file) => file.startsWith(`${folder}/`));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
