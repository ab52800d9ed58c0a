import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Baseline, type FolderChanges } from '../../../src/editor/capture/baseline';
import { captureLimits, type CaptureLimits } from '../../../src/editor/capture/limits';
import { temporaryFolder, write } from '../../support/temporaryFolder';

function baselineOf(root: string, limits: Partial<CaptureLimits> = {}): Baseline {
  const storage = temporaryFolder();
  const baseline = new Baseline(root, storage, { ...captureLimits, ...limits });
  onTestFinished(() => baseline.dispose());
  return baseline;
}

/** What a capture says when `act` is all that happens in it. */
async function capture(baseline: Baseline, act: () => void): Promise<FolderChanges> {
  await baseline.refresh([]);
  const since = Date.now();
  act();
  return baseline.changes(since);
}

const sha = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
const inShort = ({ changes }: FolderChanges): string[] =>
  changes.map(({ path: name, kind, before, after }) => {
    const text = (state: typeof before): string =>
      state?.text ? Buffer.from(state.text).toString() : '-';
    return `${kind} ${name}: ${text(before)} > ${text(after)}`;
  });

describe('what a run changed', () => {
  it('is told with the text and the hash of before and after', async () => {
    const root = temporaryFolder({ 'a.txt': 'one', 'b.txt': 'two', 'c/d.txt': 'three' });
    const found = await capture(baselineOf(root), () => {
      write(root, { 'a.txt': 'ONE', 'new/e.txt': 'four' });
      fs.rmSync(path.join(root, 'c'), { recursive: true });
    });
    expect(inShort(found)).toEqual([
      'changed a.txt: one > ONE',
      'deleted c/d.txt: three > -',
      'created new/e.txt: - > four',
    ]);
    expect(found.changes[0]?.before?.sha256).toBe(sha('one'));
    expect(found.changes[0]?.after?.sha256).toBe(sha('ONE'));
    expect(found.notes).toEqual([]);
  });

  it('is nothing where a file is written again as it was, or only touched', async () => {
    const root = temporaryFolder({ 'a.txt': 'same', 'b.txt': 'same' });
    const found = await capture(baselineOf(root), () => {
      write(root, { 'a.txt': 'same' });
      fs.utimesSync(path.join(root, 'b.txt'), new Date(), new Date());
    });
    expect(found.changes).toEqual([]);
  });

  it('is seen where size and stamps stay the same', async () => {
    const root = temporaryFolder({ 'a.txt': 'one' });
    const file = path.join(root, 'a.txt');
    const { atime, mtime } = fs.statSync(file);
    const found = await capture(baselineOf(root), () => {
      fs.writeFileSync(file, 'two');
      fs.utimesSync(file, atime, mtime);
    });
    expect(inShort(found)).toEqual(['changed a.txt: one > two']);
  });

  it('is seen capture after capture, each against the one before', async () => {
    const root = temporaryFolder({ 'a.txt': '1' });
    const baseline = baselineOf(root);
    expect(inShort(await capture(baseline, () => write(root, { 'a.txt': '2' })))).toEqual([
      'changed a.txt: 1 > 2',
    ]);
    write(root, { 'a.txt': '3' });
    expect(inShort(await capture(baseline, () => write(root, { 'a.txt': '4' })))).toEqual([
      'changed a.txt: 3 > 4',
    ]);
    expect((await capture(baseline, () => undefined)).changes).toEqual([]);
  });

  it('has hashes but no text where a file is binary or long', async () => {
    const binary = Buffer.from([1, 0, 2]);
    const root = temporaryFolder({ binary, long: 'x'.repeat(100) });
    const { changes } = await capture(baselineOf(root, { maxTextBytes: 50 }), () =>
      write(root, { binary: Buffer.from([3, 0, 4]), long: 'y'.repeat(100) }),
    );
    expect(changes.map(({ before }) => [before?.text, before?.sha256])).toEqual([
      [undefined, sha(binary)],
      [undefined, sha('x'.repeat(100))],
    ]);
  });

  it('has neither of what is too large to read, and is told all the same', async () => {
    const root = temporaryFolder({ large: 'x'.repeat(100) });
    const limits = { maxTextBytes: 50, maxHashBytes: 60 };
    const { changes } = await capture(baselineOf(root, limits), () =>
      write(root, { large: 'y'.repeat(90) }),
    );
    expect(changes).toEqual([
      {
        path: 'large',
        kind: 'changed',
        before: { bytes: 100, sha256: undefined, text: undefined },
        after: { bytes: 90, sha256: undefined, text: undefined },
      },
    ]);
  });

  it('says what it may miss where a bound was reached', async () => {
    const root = temporaryFolder({ a: 'aa', b: 'bb', c: 'cc' });
    const few = await capture(baselineOf(root, { maxFiles: 2 }), () => undefined);
    expect(few.notes.join()).toContain('Only 2 files were looked at');
    const little = await capture(baselineOf(root, { maxReadBytes: 4 }), () => undefined);
    expect(little.notes.join()).toContain('1 files were not read before the run');
    const short = await capture(baselineOf(root, { maxChanges: 1 }), () => {
      write(root, { new1: '', new2: '' });
    });
    expect(short.changes.length).toBe(1);
    expect(short.notes.join()).toContain('Only 1 files are listed; ');
  });

  it('has no texts beyond what a capture keeps, but hashes, and says so', async () => {
    const root = temporaryFolder({ a: '1234', b: '1234' });
    const found = await capture(baselineOf(root, { maxKeptBytes: 12 }), () =>
      write(root, { a: '5678', b: '5678' }),
    );
    const texts = found.changes.map(({ before, after }) => [before?.text, after?.text]);
    expect(texts.filter((sides) => sides.every((side) => side !== undefined)).length).toBe(1);
    expect(texts.filter((sides) => sides.every((side) => side === undefined)).length).toBe(1);
    expect(found.changes.map(({ after }) => after?.sha256)).toEqual([sha('5678'), sha('5678')]);
    expect(found.notes.join()).toContain('The texts of 1 files are not kept');
  });

  it('is told of the others where one file, held by another program, cannot be looked at', async () => {
    const root = temporaryFolder({ held: 'x', other: '1' });
    fs.utimesSync(path.join(root, 'held'), 1, 1);
    const baseline = baselineOf(root);
    const lstat = vi.spyOn(fs, 'lstatSync');
    onTestFinished(() => lstat.mockRestore());
    lstat.mockImplementation(((file: string) => {
      if (!file.endsWith('held')) return fs.statSync(file);
      throw Object.assign(new Error('busy'), { code: 'EBUSY', syscall: 'lstat' });
    }) as typeof fs.lstatSync);
    await baseline.refresh([]);
    const since = Date.now() + 60_000;
    write(root, { other: '2' });
    lstat.mockRestore();
    const found = await baseline.changes(since);
    expect(inShort(found)).toEqual(['changed other: 1 > 2']);
    expect(found.notes).toEqual(['1 files could not be looked at: held']);
  });

  it('is not what was there before but not looked at: rules that change are no deeds', async () => {
    const root = temporaryFolder({ '.gitignore': 'out\n', 'out/old.txt': 'old' });
    fs.utimesSync(path.join(root, 'out/old.txt'), 1, 1);
    const baseline = baselineOf(root);
    await baseline.refresh([]);
    const since = Date.now() + 60_000;
    write(root, { '.gitignore': '' });
    expect(inShort(await baseline.changes(since))).toEqual(['changed .gitignore: out\n > ']);
    await baseline.refresh([]);
    write(root, { '.gitignore': 'out\n' });
    expect(inShort(await baseline.changes(since))).toEqual(['changed .gitignore:  > out\n']);
  });

  it('leaves nothing on disk of what it has read', async () => {
    const root = temporaryFolder({ a: 'secret' });
    const storage = temporaryFolder();
    const baseline = new Baseline(root, storage, captureLimits);
    await baseline.refresh([]);
    if (process.platform !== 'win32') expect(fs.readdirSync(storage)).toEqual([]);
    await baseline.dispose();
    expect(fs.readdirSync(storage)).toEqual([]);
  });

  it('can be called off on the way, and is whole the next time', async () => {
    const root = temporaryFolder({ a: '1', b: '2' });
    const baseline = baselineOf(root);
    const reason = new Error('called off');
    await expect(baseline.refresh([], AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(inShort(await capture(baseline, () => write(root, { a: '3' })))).toEqual([
      'changed a: 1 > 3',
    ]);
  });
});
