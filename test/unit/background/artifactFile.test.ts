import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ArtifactFile } from '../../../src/editor/background/artifactFile';
import { clearOldArtifacts, headOfArtifact } from '../../../src/editor/background/artifactFolder';
import type { KernelOutput } from '../../../src/kernel/output';

function folder(): string {
  const made = mkdtempSync(path.join(os.tmpdir(), 'hf-artifact-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const text = (of: string): KernelOutput => ({ type: 'stream', name: 'stdout', text: of });
const gap = (bytes: number): KernelOutput => ({ type: 'gap', lines: 1, bytes });
const shown = (data: Record<string, unknown>): KernelOutput => ({ type: 'display', data });

it('all output is in the file in order, which only its owner can read', async () => {
  const file = new ArtifactFile(path.join(folder(), 'new', 'a.txt'));
  file.write('one\n');
  file.write(text('zwei: ö\n'));
  file.write({ type: 'result', data: { 'text/plain': '42' } });
  file.write({ type: 'error', name: 'E', value: 'v', traceback: 'Traceback\nE: v' });
  await file.close();
  expect(readFileSync(file.path, 'utf8')).toBe('one\nzwei: ö\n42\nTraceback\nE: v\n');
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(file.path)).mode & 0o777).toBe(0o700);
});

it('the same stream told again from its beginning: what stands in the file is passed over, to the byte', async () => {
  const at = path.join(folder(), 'a.txt');
  const stream = ['ä1\n', 'line 2\n', 'line 3\n', 'line 4\n'];
  const whole = stream.join('');
  for (const cut of [0, 1, 5, 12, Buffer.byteLength(whole)]) {
    writeFileSync(at, Buffer.from(whole).subarray(0, cut));
    const file = new ArtifactFile(at, { continues: { leftOut: 0 } });
    // The pieces are not those of the first time.
    for (const piece of [stream.slice(0, 3).join(''), stream[3] ?? '']) file.write(text(piece));
    await file.close();
    expect(readFileSync(at, 'utf8'), `cut at ${cut}`).toBe(whole);
  }
});

it('told again with a gap for what is in the file: nothing is missing and no gap is named', async () => {
  const at = path.join(folder(), 'a.txt');
  writeFileSync(at, 'line 1\nline 2\n');
  const leftOut: number[] = [];
  const file = new ArtifactFile(at, {
    continues: { leftOut: 0 },
    onLeftOut: (bytes) => leftOut.push(bytes),
  });
  file.write(gap(7));
  file.write(text('line 2\nline 3\n'));
  await file.close();
  expect(readFileSync(at, 'utf8')).toBe('line 1\nline 2\nline 3\n');
  expect(leftOut).toEqual([]);
});

it('what never arrived is named, and a next window still finds where the file goes on', async () => {
  const at = path.join(folder(), 'a.txt');
  let leftOut = 0;
  const first = new ArtifactFile(at, { onLeftOut: (bytes) => (leftOut = bytes) });
  first.write(text('line 1\n'));
  first.write(gap(700));
  first.write(text('line 102\n'));
  await first.close();
  const before = 'line 1\n\n[700 bytes are left out here.]\nline 102\n';
  expect(readFileSync(at, 'utf8')).toBe(before);
  const next = new ArtifactFile(at, { continues: { leftOut } });
  next.write(gap(707));
  next.write(text('line 102\nline 103\n'));
  await next.close();
  expect(readFileSync(at, 'utf8')).toBe(`${before}line 103\n`);
});

it('a display is a line of the same length, whatever the data: it may come again with a note in its place', async () => {
  const at = path.join(folder(), 'a.txt');
  const first = new ArtifactFile(at);
  first.write(shown({ 'image/png': 'abc', 'text/plain': 'Figure' }));
  await first.close();
  const next = new ArtifactFile(at, { continues: { leftOut: 0 } });
  next.write(shown({ 'text/plain': 'Left out: it was too large.' }));
  next.write(text('after\n'));
  await next.close();
  expect(readFileSync(at, 'utf8')).toBe('[A display, which only the panel shows.]\nafter\n');
});

it('a flood that the disk does not keep up with is counted, not kept in memory', async () => {
  const file = new ArtifactFile(path.join(folder(), 'a.txt'), { maxWaitingBytes: 10 });
  for (const piece of ['12345\n', '7890\n', 'abcdef\n', 'x\n']) file.write(text(piece));
  await file.close();
  expect(readFileSync(file.path, 'utf8')).toBe('12345\n\n[12 bytes are left out here.]\nx\n');
});

it('a file ends at its limit, and says so once', async () => {
  const file = new ArtifactFile(path.join(folder(), 'a.txt'), { maxBytes: 10 });
  for (let line = 0; line < 5; line++) file.write(text('12345\n'));
  await file.close();
  const written = readFileSync(file.path, 'utf8');
  expect(written).toBe('12345\n1234\n[The file ends here: it has reached its limit.]\n');
});

it('a disk that fails is told of once; from then on a write throws, and nothing waits', async () => {
  const at = path.join(folder(), 'taken');
  writeFileSync(at, '');
  const failures: Error[] = [];
  const file = new ArtifactFile(path.join(at, 'a.txt'), { onFailure: (e) => failures.push(e) });
  file.write(text('one'));
  await expect(file.close()).rejects.toThrow('no longer kept');
  expect(() => file.write(text('two'))).toThrow('no longer kept');
  expect(failures).toHaveLength(1);
});

it('old files go: those beyond the newest fifty and those of more than 14 days, but none that is in use or new', async () => {
  const at = folder();
  const now = Date.now();
  const hours = 60 * 60_000;
  const make = (name: string, ageMs: number): string => {
    const file = path.join(at, name);
    writeFileSync(file, 'x');
    utimesSync(file, (now - ageMs) / 1_000, (now - ageMs) / 1_000);
    return file;
  };
  for (let index = 0; index < 52; index++) make(`${index}.txt`, (2 + index) * hours);
  const [inUse, ancient] = [make('used.txt', 900 * hours), make('ancient.txt', 900 * hours)];
  make('other.log', 900 * hours);
  await clearOldArtifacts(at, now, (file) => file === inUse);
  const has = (name: string): boolean => statSync(name, { throwIfNoEntry: false }) !== undefined;
  expect([0, 49, 50, 51].map((index) => has(path.join(at, `${index}.txt`)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect([inUse, ancient, path.join(at, 'other.log')].map(has)).toEqual([true, false, true]);
  await clearOldArtifacts(path.join(at, 'nowhere'), now, () => false);
});

it('the head of a file ends with a whole character, and is empty where there is no file', async () => {
  const at = path.join(folder(), 'a.txt');
  writeFileSync(at, 'aöb');
  expect(await headOfArtifact(at, 2)).toBe('a');
  expect(await headOfArtifact(at, 100)).toBe('aöb');
  expect(await headOfArtifact(`${at}.gone`, 100)).toBe('');
});

it.runIf(process.platform === 'linux')('a file that fails is let go of at once', async () => {
  const failed: Error[] = [];
  const file = new ArtifactFile('/dev/full', { onFailure: (error) => failed.push(error) });
  file.write('x');
  await expect.poll(() => failed.length).toBe(1);
  const open = (): string[] =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        // It was the listing's own.
        return [];
      }
    });
  await expect.poll(open).not.toContain('/dev/full');
  expect(() => file.write('y')).toThrow('no longer kept');
});
