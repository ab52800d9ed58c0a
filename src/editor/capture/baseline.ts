import { basename, join } from 'node:path';
import { messageOf } from '../../base/errors';
import { readContent, type Content } from './content';
import { ContentPack, type Packed } from './contentPack';
import { IgnoreRules } from './ignoreRules';
import { diffOf, type Seen } from './indexDiff';
import type { CaptureLimits } from './limits';
import { Pace } from './pace';
import { TextRoom } from './textRoom';
import { statOf, walk, type FileStat, type Walk } from './walk';

/** One state of a file. */
export interface FileState {
  readonly bytes: number;
  /** SHA-256 in hex. Undefined: it was too large, or could not be read. */
  readonly sha256: string | undefined;
  /** Undefined: no text, or more than is kept. */
  readonly text: Uint8Array | undefined;
}

export interface FileChange {
  /** Relative to the folder, with slashes. */
  readonly path: string;
  readonly kind: 'created' | 'changed' | 'deleted';
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
}

export interface FolderChanges {
  /** By path. */
  readonly changes: readonly FileChange[];
  /** In sentences, for people: where a bound was reached and something may be missing. */
  readonly notes: readonly string[];
}

interface Known extends Seen {
  readonly sha256: string | undefined;
  readonly packed: Packed | undefined;
}

/**
 * What is in a folder before a run, kept up to date from capture to capture, so that only what changed is read again.
 * It reads the disk on the thread that it is on, which is the capture's own.
 */
export class Baseline {
  private readonly known = new Map<string, Known>();
  private pack: ContentPack | undefined;
  private opening: Promise<ContentPack> | undefined;
  private excluded: readonly string[] = [];
  private isCut = false;
  private unread = 0;
  /** Files and folders that could not be looked at before the run. */
  private hidden: ReadonlySet<string> = new Set();
  private before: Pick<Walk, 'unreadable' | 'unreadableFiles'> = {
    unreadable: [],
    unreadableFiles: [],
  };

  constructor(
    private readonly root: string,
    /** Where what files had in them is kept, for as long as this is there. */
    private readonly storage: string,
    private readonly limits: CaptureLimits,
  ) {}

  /** Looks at the folder before a run. `excluded`: the editor's globs of what does not count. Aborted, it rejects. */
  async refresh(excluded: readonly string[], signal?: AbortSignal): Promise<void> {
    this.excluded = excluded;
    await this.makeRoom();
    const found = await this.walk(signal);
    const { created, gone, suspect } = await diffOf(this.known, found.files, new Pace(signal));
    for (const path of gone) this.known.delete(path);
    this.isCut = found.isCut;
    const { unreadable, unreadableFiles } = found;
    this.before = { unreadable, unreadableFiles };
    this.hidden = new Set([...unreadable, ...unreadableFiles]);
    await this.readAll([...created, ...suspect], found, signal);
    const { maxHashBytes } = this.limits;
    const unread = [...this.known.values()].filter(
      ({ stat, sha256 }) => sha256 === undefined && stat.size <= maxHashBytes,
    );
    this.unread = unread.length;
  }

  /**
   * What is another than at the last look. `since`: when the run began, ms since the epoch. `keepBytes`: texts are left out
   * beyond that.
   */
  async changes(
    since: number,
    signal?: AbortSignal,
    keepBytes = this.limits.maxKeptBytes,
  ): Promise<FolderChanges> {
    const found = await this.walk(signal);
    const { created, gone, suspect } = await diffOf(this.known, found.files, new Pace(signal));
    const wasCut = this.isCut;
    const rulesChanged = [...created, ...gone, ...suspect].some((path) =>
      ['.gitignore', '.ignore'].includes(basename(path)),
    );
    const candidates = created.filter((path) => {
      // What was not looked at before is not new for that.
      if (!wasCut && !rulesChanged && !isWithin(path, this.hidden)) return true;
      return (found.files.get(path)?.ctimeMs ?? 0) >= since;
    });
    const changes: FileChange[] = [];
    const listed = [...candidates, ...suspect, ...gone].slice(0, this.limits.maxChanges);
    const left = candidates.length + suspect.length + gone.length - listed.length;
    const pace = new Pace(signal);
    const room = new TextRoom(keepBytes);
    for (const path of listed) {
      await pace.turn();
      const wasPassedOver = wasCut || isWithin(path, this.hidden);
      const change = await this.changeOf(path, found.files.get(path), wasPassedOver, signal);
      if (change) changes.push(room.fit(change));
    }
    changes.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { changes, notes: this.notes(found, left, room.leftOut) };
  }

  async dispose(): Promise<void> {
    const pack = await this.opening;
    this.opening = undefined;
    this.pack = undefined;
    this.known.clear();
    await pack?.close();
  }

  private async walk(signal: AbortSignal | undefined): Promise<Walk> {
    const rules = await IgnoreRules.atRoot(this.root, this.excluded);
    const { maxFiles } = this.limits;
    return walk(this.root, rules, { maxFiles, ...(signal && { signal }) });
  }

  /** Small ones first: they are the ones whose text is kept. */
  private async readAll(
    paths: readonly string[],
    { files }: Walk,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { maxTextBytes, maxReadBytes } = this.limits;
    const sizeOf = (path: string): number => files.get(path)?.size ?? 0;
    const small = paths.filter((path) => sizeOf(path) <= maxTextBytes);
    const large = paths.filter((path) => sizeOf(path) > maxTextBytes);
    let read = 0;
    const pace = new Pace(signal);
    for (const path of [...small, ...large]) {
      await pace.turn();
      const stat = files.get(path);
      if (!stat) continue;
      const isTooMuch = read + stat.size > maxReadBytes;
      if (!isTooMuch) read += stat.size;
      const readAt = Date.now();
      const content = isTooMuch ? undefined : await this.read(path, stat, signal);
      this.known.set(path, { stat, readAt, ...(await this.keep(content)) });
    }
  }

  private async changeOf(
    path: string,
    stat: FileStat | undefined,
    wasPassedOver: boolean,
    signal: AbortSignal | undefined,
  ): Promise<FileChange | undefined> {
    const known = this.known.get(path);
    // What is no longer looked at, or can't be, is not gone for that.
    if (!stat && !this.isGone(path)) return undefined;
    const before = known && (await this.stateOf(known));
    const readAt = Date.now();
    const content = stat && (await this.read(path, stat, signal));
    if (stat) this.known.set(path, { stat, readAt, ...(await this.keep(content)) });
    else this.known.delete(path);
    const after = stat && { bytes: stat.size, sha256: content?.sha256, text: content?.text };
    if (before && after && isEqual(before, after, known.stat, stat)) return undefined;
    const kind = !after ? 'deleted' : before || wasPassedOver ? 'changed' : 'created';
    return { path, kind, before, after };
  }

  private isGone(path: string): boolean {
    try {
      return statOf(join(this.root, path)) === undefined;
    } catch {
      // It is there, and nobody may look at it.
      return false;
    }
  }

  private async stateOf({ stat, sha256, packed }: Known): Promise<FileState> {
    const text = packed && (await this.pack?.read(packed));
    return { bytes: stat.size, sha256, text };
  }

  private read(
    path: string,
    stat: FileStat,
    signal: AbortSignal | undefined,
  ): Promise<Content | undefined> {
    return readContent(join(this.root, path), stat, this.limits, signal);
  }

  private async keep(content: Content | undefined): Promise<Pick<Known, 'sha256' | 'packed'>> {
    const { sha256, text } = content ?? { sha256: undefined, text: undefined };
    if (!text) return { sha256, packed: undefined };
    const pack = await (this.opening ??= this.open());
    this.pack = pack;
    return { sha256, packed: await pack.add(text) };
  }

  private async open(): Promise<ContentPack> {
    try {
      return await ContentPack.open(this.storage, this.limits.maxPackBytes);
    } catch (error) {
      this.opening = undefined;
      throw error;
    }
  }

  /** What files had in them long ago takes room in the pack: begins anew where that is most of it. */
  private async makeRoom(): Promise<void> {
    const { pack, known, limits } = this;
    // What it should have had in it is read again, into another.
    if (pack?.failure) return this.dispose();
    if (!pack || pack.bytes < limits.maxPackBytes * 0.9) return;
    let live = 0;
    for (const { packed } of known.values()) live += packed?.bytes ?? 0;
    if (live > limits.maxPackBytes / 2) return;
    await this.dispose();
  }

  private notes(after: Walk, left: number, withoutText: number): readonly string[] {
    const { before } = this;
    const unreadable = [...new Set([...before.unreadable, ...after.unreadable])];
    const files = [...new Set([...before.unreadableFiles, ...after.unreadableFiles])];
    const { maxFiles, maxReadBytes, maxChanges } = this.limits;
    const notes: string[] = [];
    if (after.isCut || this.isCut) {
      notes.push(
        `Only ${maxFiles.toLocaleString('en')} files were looked at; changes of others are missing.`,
      );
    }
    if (this.unread > 0) {
      notes.push(
        `${this.unread.toLocaleString('en')} files were not read before the run: they can't be, or are beyond the first ${maxReadBytes / 2 ** 20} MB.`,
      );
    }
    if (left > 0) {
      notes.push(
        `Only ${maxChanges.toLocaleString('en')} files are listed; ${left.toLocaleString('en')} more may have changed.`,
      );
    }
    if (unreadable.length > 0) {
      notes.push(`Folders that could not be read: ${unreadable.slice(0, 5).join(', ') || '.'}`);
    }
    if (files.length > 0) {
      notes.push(
        `${files.length.toLocaleString('en')} files could not be looked at: ${files.slice(0, 5).join(', ')}`,
      );
    }
    if (withoutText > 0) {
      notes.push(
        `The texts of ${withoutText.toLocaleString('en')} files are not kept, only their hashes: they are beyond the ${this.limits.maxKeptBytes / 2 ** 20} MB of a capture.`,
      );
    }
    if (this.pack?.failure) {
      notes.push(`What some files had in them before is not kept: ${messageOf(this.pack.failure)}`);
    }
    return notes;
  }
}

/** Whether it is one of these, or in a folder that is. `''` is the root. */
function isWithin(path: string, hidden: ReadonlySet<string>): boolean {
  if (hidden.size === 0) return false;
  if (hidden.has('') || hidden.has(path)) return true;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    if (hidden.has(path.slice(0, at))) return true;
  }
  return false;
}

function isEqual(
  before: FileState,
  after: FileState,
  stat: FileStat,
  { size, mtimeMs, isLink }: FileStat,
): boolean {
  if (stat.isLink !== isLink) return false;
  if (before.sha256 !== undefined && after.sha256 !== undefined) {
    return before.sha256 === after.sha256;
  }
  return stat.size === size && stat.mtimeMs === mtimeMs;
}
