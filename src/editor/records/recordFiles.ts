import { createHash } from 'node:crypto';
import { isBackground } from '../background/session';
import type { Disk, DiskFile } from './disk';
import { headerLine, parseFile, parseHeader, runLine, type Header, type KeptRun } from './keptRun';
import type { RecordLimits } from './limits';

// The number is that of the format: what has another one is neither read nor written, only cleared.
const NAME = /^t1-(r?[0-9a-f]{32})-([0-9a-z]+)(?:\.\d+)?\.jsonl$/;
const ANY_FORMAT = /^t\d+-r?[0-9a-f]{32}-.*\.jsonl(?:\.new)?$/;
/** Begins the hash of a background run. No hash begins so by itself. */
const RUN = 'r';
const HEADER_BYTES = 16 * 1024;
/** A file that is shortened gets room for what comes next. */
const SHORTENED = 0.75;
/** What was written more recently than this may be at work: it is left to whoever comes later. */
const SETTLED_MS = 60_000;
/** Between two looks at the size of the whole folder. */
const LOOK_AFTER_BYTES = 256 * 1024;
const READ_ATTEMPTS = 3;

export interface KeptSession extends Header {
  /** When it was last written, ms since the epoch. */
  readonly until: number;
  readonly bytes: number;
}

interface OwnFile {
  bytes: number;
  runs: number;
  /** A write has failed on the way: its line may have no end. */
  isTorn: boolean;
}

/**
 * The kept runs of a workspace: a file of JSON lines for each session and window, so that no two windows write to the
 * same one. A window that writes to a session for the first time takes over, by renaming, what earlier windows have
 * written of it; one of those that still lives begins a new file at its next run. Whoever reads takes all of them
 * together. Calls must not overlap.
 */
export class RecordFiles {
  private readonly own = new Map<string, OwnFile>();
  private unseenBytes = LOOK_AFTER_BYTES;
  private nextPart = 0;

  constructor(
    private readonly disk: Disk,
    /** Of this window: letters and digits. */
    private readonly writer: string,
    private readonly limits: RecordLimits,
    private readonly now: () => number = Date.now,
  ) {}

  async append(session: Header, runs: readonly KeptRun[]): Promise<void> {
    const file = await this.ownFile(session);
    const name = this.nameOf(session.key);
    const lines = runs.map(runLine).join('');
    const text = file.isTorn ? `\n${lines}` : lines;
    file.isTorn = true;
    const { wasEmpty } = await this.disk.append(name, headerLine(session), text);
    file.isTorn = false;
    // Another window has taken it over, or cleared it.
    if (wasEmpty) file.bytes = file.runs = 0;
    const bytes = Buffer.byteLength(text);
    file.bytes += bytes;
    file.runs += runs.length;
    this.unseenBytes += bytes;
    if (file.bytes > this.limits.sessionBytes || file.runs > this.limits.sessionRuns)
      await this.shorten(session, file);
    if (this.unseenBytes >= LOOK_AFTER_BYTES) await this.evict();
  }

  /** What all windows have kept of a session, oldest first. */
  async read(key: string): Promise<{ runs: KeptRun[]; damaged: number }> {
    for (let attempt = 1; ; attempt++) {
      const names = (await this.filesOf(key)).map(({ name }) => name);
      const contents = await Promise.all(names.map((name) => this.disk.read(name)));
      // Another window has renamed one: under its new name it may not have been listed.
      if (contents.includes(undefined) && attempt < READ_ATTEMPTS) continue;
      const files = contents.map((content) => parseFile(content ?? ''));
      const damaged = files.reduce((sum, file) => sum + file.damaged, 0);
      return { runs: merged(files.map(({ runs }) => runs)), damaged };
    }
  }

  /** One run of it, as it was kept last. */
  async find(key: string, executionId: string): Promise<KeptRun | undefined> {
    const { runs } = await this.read(key);
    return runs.find(({ id }) => id === executionId);
  }

  /** The sessions that something is kept of, the one that was written last first. */
  async list(): Promise<KeptSession[]> {
    const sessions: KeptSession[] = [];
    for (const files of (await this.bySession()).values()) {
      const [newest] = files;
      const beginning = newest && (await this.disk.beginning(newest.name, HEADER_BYTES));
      const header = beginning === undefined ? undefined : parseHeader(beginning);
      if (newest && header)
        sessions.push({ ...header, until: newest.writtenAt, bytes: sizeOf(files) });
    }
    return sessions;
  }

  /** One session, or all of the workspace. */
  async clear(key?: string): Promise<void> {
    const files =
      key === undefined
        ? (await this.disk.list()).filter(({ name }) => ANY_FORMAT.test(name))
        : await this.filesOf(key);
    for (const { name } of files) await this.disk.remove(name);
    if (key === undefined) this.own.clear();
    else this.own.delete(key);
  }

  private async ownFile(session: Header): Promise<OwnFile> {
    const known = this.own.get(session.key);
    if (known) return known;
    await this.disk.prepare();
    const file = await this.takeOver(session);
    this.own.set(session.key, file);
    // A session more may be one too many.
    this.unseenBytes = LOOK_AFTER_BYTES;
    return file;
  }

  private async takeOver(session: Header): Promise<OwnFile> {
    const name = this.nameOf(session.key);
    const parts: string[] = [];
    for (const { name: found, writtenAt } of await this.filesOf(session.key)) {
      const isOwn = NAME.exec(found)?.[2] === this.writer;
      if (!isOwn && this.now() - writtenAt < SETTLED_MS) continue;
      const part = isOwn ? found : this.nameOf(session.key, `.${this.nextPart++}`);
      if (isOwn || (await this.disk.rename(found, part))) parts.push(part);
    }
    if (parts.length === 0) return { bytes: 0, runs: 0, isTorn: false };
    const contents = await Promise.all(parts.map((part) => this.disk.read(part)));
    const runs = merged(contents.map((content) => parseFile(content ?? '').runs));
    const file = await this.write(session, runs, 1);
    const bytesNow = new Map((await this.disk.list()).map((each) => [each.name, each.bytes]));
    for (const [index, part] of parts.entries()) {
      // A line that was on its way while the file was renamed stays where it is.
      const isWhole = bytesNow.get(part) === Buffer.byteLength(contents[index] ?? '');
      if (part !== name && isWhole) await this.disk.remove(part);
    }
    return file;
  }

  private async shorten(session: Header, file: OwnFile): Promise<void> {
    const content = await this.disk.read(this.nameOf(session.key));
    const { runs: all } = parseFile(content ?? '');
    const { bytes, runs } = await this.write(session, merged([all]), SHORTENED);
    Object.assign(file, { bytes, runs });
  }

  /** The newest runs within a part of the limits. */
  private async write(session: Header, runs: KeptRun[], part: number): Promise<OwnFile> {
    const maxRuns = Math.floor(this.limits.sessionRuns * part);
    const maxBytes = this.limits.sessionBytes * part;
    const lines: string[] = [];
    let bytes = Buffer.byteLength(headerLine(session));
    for (const line of runs.slice(-maxRuns).reverse().map(runLine)) {
      bytes += Buffer.byteLength(line);
      if (bytes > maxBytes) break;
      lines.push(line);
    }
    const content = headerLine(session) + lines.reverse().join('');
    await this.disk.replace(this.nameOf(session.key), content);
    return { bytes: Buffer.byteLength(content), runs: lines.length, isTorn: false };
  }

  /**
   * The sessions that were written least recently go until the rest is within the workspace's limits. Background runs
   * have the same limits for themselves: however many there are, they push no session out.
   */
  private async evict(): Promise<void> {
    this.unseenBytes = 0;
    const all = [...(await this.bySession())];
    await this.evictFrom(all.filter(([hash]) => !hash.startsWith(RUN)));
    await this.evictFrom(all.filter(([hash]) => hash.startsWith(RUN)));
  }

  private async evictFrom(all: readonly (readonly [string, DiskFile[]])[]): Promise<void> {
    let bytes = 0;
    for (const [index, [, files]] of all.entries()) {
      bytes += sizeOf(files);
      if (bytes <= this.limits.workspaceBytes && index < this.limits.sessions) continue;
      for (const { name } of files) await this.disk.remove(name);
    }
  }

  /** By the hash of their keys; of sessions and of their files, those that were written last come first. */
  private async bySession(): Promise<Map<string, DiskFile[]>> {
    const files = (await this.disk.list()).sort((a, b) => b.writtenAt - a.writtenAt);
    const found = new Map<string, DiskFile[]>();
    for (const file of files) {
      const [, hash] = NAME.exec(file.name) ?? [];
      if (hash !== undefined) found.set(hash, [...(found.get(hash) ?? []), file]);
    }
    return found;
  }

  private async filesOf(key: string): Promise<DiskFile[]> {
    return (await this.bySession()).get(hashOf(key)) ?? [];
  }

  private nameOf(key: string, part = ''): string {
    return `t1-${hashOf(key)}-${this.writer}${part}.jsonl`;
  }
}

const sizeOf = (files: readonly DiskFile[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

function hashOf(key: string): string {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 32);
  return isBackground(key) ? RUN + hash : hash;
}

/** Each run once, as it was written last. `files`: the one that was written last comes first. */
function merged(files: readonly KeptRun[][]): KeptRun[] {
  const byId = new Map(
    files
      .toReversed()
      .flat()
      .map((run) => [run.id, run]),
  );
  return [...byId.values()].sort((a, b) => a.queuedAt - b.queuedAt);
}
