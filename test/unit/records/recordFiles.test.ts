import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskIn, type Disk } from '../../../src/editor/records/disk';
import { runLine } from '../../../src/editor/records/keptRun';
import { defaultLimits, type RecordLimits } from '../../../src/editor/records/limits';
import { RecordFiles } from '../../../src/editor/records/recordFiles';
import { header, keptRun, small, temporaryFolder } from './world';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => fs.rmSync(path.dirname(folder), { recursive: true, force: true }));

const open = (writer = 'w1', limits: RecordLimits = defaultLimits): RecordFiles =>
  new RecordFiles(diskIn(folder), writer, limits);
/** As if it had all been written long ago. */
function age(): void {
  for (const name of files()) fs.utimesSync(path.join(folder, name), 1_000, 1_000);
}
const files = (): string[] => fs.readdirSync(folder).sort();
const only = (): string => path.join(folder, files()[0]!);
const ids = async (at: RecordFiles, key = 'k'): Promise<string[]> =>
  (await at.read(key)).runs.map(({ id }) => id);

describe('a session’s file', () => {
  it('is read again as it was written, and only this user can', async () => {
    await open().append(header('k'), [keptRun('a', 1), keptRun('b', 2)]);
    expect(await open('w2').read('k')).toEqual({
      runs: [keptRun('a', 1), keptRun('b', 2)],
      damaged: 0,
    });
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    expect(fs.statSync(only()).mode & 0o777).toBe(0o600);
  });

  it('its name tells nothing of the session', async () => {
    await open().append(header('/home/somebody/secret'), [keptRun('a')]);
    expect(files().join()).not.toMatch(/secret|somebody/);
  });

  it('a damaged line is counted, and the rest stays', async () => {
    await open().append(header('k'), [keptRun('a', 1), keptRun('b', 2), keptRun('c', 3)]);
    const lines = fs.readFileSync(only(), 'utf8').split('\n');
    lines[2] = lines[2]!.slice(0, 40);
    fs.writeFileSync(only(), `${lines.join('\n')}{"what":"run","id":7}\n`);
    const { runs, damaged } = await open('w2').read('k');
    expect(runs.map(({ id }) => id)).toEqual(['a', 'c']);
    expect(damaged).toBe(2);
  });

  it('what a crash has cut off does not spoil the run that comes next', async () => {
    await open().append(header('k'), [keptRun('a', 1), keptRun('b', 2)]);
    fs.truncateSync(only(), fs.statSync(only()).size - 30);
    age();
    const next = open('w2');
    await next.append(header('k'), [keptRun('c', 3)]);
    expect(await next.read('k')).toEqual({ runs: [keptRun('a', 1), keptRun('c', 3)], damaged: 0 });
  });

  it('has so many runs at most: the oldest go', async () => {
    const records = open('w1', small);
    for (let i = 0; i < 20; i++) await records.append(header('k'), [keptRun(`r${i}`, i)]);
    const kept = await ids(records);
    expect(kept.length).toBeLessThanOrEqual(8);
    expect(kept.at(-1)).toBe('r19');
    expect(files()).toHaveLength(1);
  });

  it('and so many bytes', async () => {
    const records = open('w1', { ...small, sessionBytes: 10_000, sessionRuns: 1_000 });
    for (let i = 0; i < 20; i++)
      await records.append(header('k'), [keptRun(`r${i}`, i, 'x'.repeat(1_000))]);
    expect(fs.statSync(only()).size).toBeLessThanOrEqual(10_000);
    expect((await ids(records)).at(-1)).toBe('r19');
  });
});

describe('two windows', () => {
  it('that write to one session at once tear no line and lose no run', async () => {
    const [one, two] = [open('w1'), open('w2')];
    const all = Array.from({ length: 40 }, (_, i) => `r${i}`);
    const writeAll = async (files: RecordFiles, mine: string[]): Promise<void> => {
      for (const id of mine) await files.append(header('k'), [keptRun(id, Number(id.slice(1)))]);
    };
    await Promise.all([
      writeAll(
        one,
        all.filter((_, i) => i % 2 === 0),
      ),
      writeAll(
        two,
        all.filter((_, i) => i % 2 === 1),
      ),
    ]);
    const { runs, damaged } = await one.read('k');
    expect(runs.map(({ id }) => id)).toEqual(all);
    expect(damaged).toBe(0);
  });

  it('one that comes later takes over what earlier ones have left: a session does not gather files', async () => {
    for (let i = 0; i < 5; i++) {
      await open(`w${i}`).append(header('k'), [keptRun(`r${i}`, i)]);
      age();
    }
    expect(files()).toHaveLength(1);
    expect(await ids(open('w9'))).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
  });

  it('what was written a moment ago is left to a later one, and read all the same', async () => {
    for (let i = 0; i < 3; i++) await open(`w${i}`).append(header('k'), [keptRun(`r${i}`, i)]);
    expect(files()).toHaveLength(3);
    expect(await ids(open('w9'))).toEqual(['r0', 'r1', 'r2']);
    age();
    await open('w9').append(header('k'), [keptRun('r9', 9)]);
    expect(files()).toHaveLength(1);
  });

  it('a run that is written while its file is taken over is not lost', async () => {
    await open('w1').append(header('k'), [keptRun('a', 1)]);
    age();
    const disk = diskIn(folder);
    const late: Disk = {
      ...disk,
      async replace(name, text) {
        const [part] = files().filter((each) => each !== name);
        fs.appendFileSync(path.join(folder, part!), runLine(keptRun('late', 2)));
        await disk.replace(name, text);
      },
    };
    const two = new RecordFiles(late, 'w2', defaultLimits);
    await two.append(header('k'), [keptRun('b', 3)]);
    expect(await ids(two)).toEqual(['a', 'late', 'b']);
  });

  it('the one that was taken over from goes on in a new file', async () => {
    const one = open('w1');
    await one.append(header('k'), [keptRun('a', 1)]);
    age();
    const two = open('w2');
    await two.append(header('k'), [keptRun('b', 2)]);
    await one.append(header('k'), [keptRun('c', 3)]);
    expect(await ids(two)).toEqual(['a', 'b', 'c']);
    expect(await one.list()).toMatchObject([{ key: 'k', label: 'label of k' }]);
  });
});

describe('a workspace', () => {
  it('keeps so many sessions: the one that was written least recently goes', async () => {
    const records = open('w1', small);
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      await records.append(header(key), [keptRun(key)]);
      const file = path.join(
        folder,
        files().find((name) => !before.has(name))!,
      );
      before.add(file.slice(folder.length + 1));
      fs.utimesSync(file, 1_000 + index, 1_000 + index);
    }
    await records.append(header('d'), [keptRun('d')]);
    const kept = (await records.list()).map(({ key }) => key);
    expect(kept).toEqual(['d', 'c', 'b']);
  });
  const before = new Set<string>();

  it('keeps so many bytes', async () => {
    const limits = { ...small, sessions: 50, workspaceBytes: 1_000_000 };
    const records = open('w1', limits);
    for (let i = 0; i < 12; i++)
      await records.append(header(`k${i}`), [keptRun(`r${i}`, 1, 'x'.repeat(200_000))]);
    const bytes = (await records.list()).reduce((sum, each) => sum + each.bytes, 0);
    expect(bytes).toBeLessThanOrEqual(1_000_000);
    expect(bytes).toBeGreaterThan(500_000);
  });

  it('is cleared, one session or all, and what is no transcript stays', async () => {
    const records = open();
    for (const key of ['a', 'b', 'c']) await records.append(header(key), [keptRun(key)]);
    fs.writeFileSync(path.join(folder, 'other.txt'), 'not ours');
    await records.clear('a');
    expect((await records.list()).map(({ key }) => key).sort()).toEqual(['b', 'c']);
    await records.clear();
    expect(files()).toEqual(['other.txt']);
    await records.append(header('a'), [keptRun('again')]);
    expect(await ids(records, 'a')).toEqual(['again']);
  });

  it('without anything kept lists nothing and makes no folder', async () => {
    expect(await open().list()).toEqual([]);
    expect(await open().read('k')).toEqual({ runs: [], damaged: 0 });
    expect(fs.existsSync(folder)).toBe(false);
  });
});
