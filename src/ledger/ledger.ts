import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import type { ProcessIdentity } from '../platform/processes';
import { hostIdentity, type HostIdentity } from '../protocol/hostFile';

const line = v.variant('what', [
  v.object({ what: v.literal('host'), host: hostIdentity }),
  /** A process with this nonce in its environment is about to be started. */
  v.object({ what: v.literal('intent'), nonce: v.string() }),
  v.object({
    what: v.literal('spawned'),
    nonce: v.string(),
    pid: v.number(),
    startTime: v.exactOptional(v.string()),
  }),
  /** Its exit was observed and what it left behind has been swept, or it never came to be. */
  v.object({ what: v.literal('gone'), nonce: v.string() }),
]);

type Line = v.InferOutput<typeof line>;

const pathIn = (folder: string): string => path.join(folder, 'ledger');

/**
 * What a kernel host has started, line by line in a file that outlives it. Each line is written before what it says can
 * matter to anybody else, so a host may die between any two steps.
 */
export class Ledger {
  private readonly open = new Map<string, Line[]>();

  constructor(
    private readonly folder: string,
    private readonly host: HostIdentity,
  ) {
    this.append({ what: 'host', host });
  }

  /** Everything that it has started is gone. */
  get isClear(): boolean {
    return this.open.size === 0;
  }

  /** Throws what the file system says: then nothing may be started. */
  intent(nonce: string): void {
    const entry: Line = { what: 'intent', nonce };
    this.append(entry);
    this.open.set(nonce, [entry]);
  }

  spawned(nonce: string, { pid, startTime }: { pid: number; startTime?: string }): void {
    const entry: Line = {
      what: 'spawned',
      nonce,
      pid,
      ...(startTime !== undefined && { startTime }),
    };
    this.open.get(nonce)?.push(entry);
    this.tryToAppend(entry);
  }

  gone(nonce: string): void {
    this.open.delete(nonce);
    this.tryToAppend({ what: 'gone', nonce });
  }

  private tryToAppend(entry: Line): void {
    try {
      this.append(entry);
    } catch {
      // Without it the intent stands, and whoever reads that finds by the nonce what there is, which may be nothing.
    }
  }

  // One write to a file opened for appending: lines of a host never mix, and only the last can be torn.
  private append(entry: Line): void {
    const file = pathIn(this.folder);
    const lines: Line[] = [entry];
    if (!existsSync(file)) {
      // The first line, or the temporary folder has been cleaned.
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      const before = entry.what === 'host' ? [] : [{ what: 'host' as const, host: this.host }];
      lines.unshift(...before, ...[...this.open.values()].flat());
    }
    const text = lines.map((each) => `${JSON.stringify(each)}\n`).join('');
    appendFileSync(file, text, { mode: 0o600 });
  }
}

export interface LedgerEntry {
  readonly nonce: string;
  /** Absent: the host died before it could write it, or the system does not tell a start time. */
  readonly process?: ProcessIdentity;
}

interface LedgerContent {
  readonly host: HostIdentity | undefined;
  /** Of what has not gone for certain. */
  readonly entries: readonly LedgerEntry[];
}

/** Resolves to undefined where there is none, and rejects where it can't be read. A line that does not parse, such as a torn last one, says nothing. */
export async function readLedger(folder: string): Promise<LedgerContent | undefined> {
  let text: string;
  try {
    text = await readFile(pathIn(folder), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  let host: HostIdentity | undefined;
  const open = new Map<string, LedgerEntry>();
  for (const entry of text.split('\n').flatMap(parseLine)) {
    switch (entry.what) {
      case 'host':
        host = entry.host;
        break;
      case 'intent':
        open.set(entry.nonce, { nonce: entry.nonce });
        break;
      case 'spawned': {
        const { nonce, pid, startTime } = entry;
        if (startTime !== undefined) open.set(nonce, { nonce, process: { pid, startTime } });
        break;
      }
      case 'gone':
        open.delete(entry.nonce);
    }
  }
  return { host, entries: [...open.values()] };
}

function parseLine(text: string): Line[] {
  try {
    const parsed = v.safeParse(line, JSON.parse(text));
    return parsed.success ? [parsed.output] : [];
  } catch {
    return [];
  }
}
