import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { IgnoreRules, patternsOf } from '../../../src/editor/capture/ignoreRules';
import { Pace } from '../../../src/editor/capture/pace';
import { walk } from '../../../src/editor/capture/walk';
import { temporaryFolder } from '../../support/temporaryFolder';

async function found(
  root: string,
  { globs = [], maxFiles = 1_000 }: { globs?: string[]; maxFiles?: number } = {},
): Promise<string[]> {
  const { files } = await walk(root, await IgnoreRules.atRoot(root, globs), { maxFiles });
  return [...files.keys()].sort();
}

describe('the files that a capture looks at', () => {
  it('are those that git would not ignore: nested rules, negation, folders for good', async () => {
    const root = temporaryFolder({
      '.gitignore': '*.log\n/build/\n!kept.log\n',
      'a.py': '',
      'a.log': '',
      'kept.log': '',
      'build/x': '',
      'build/.gitignore': '!x\n',
      'src/build/y': '',
      'src/.gitignore': 'y\n!b.log\n/z\n',
      'src/b.log': '',
      'src/z': '',
      'src/deep/z': '',
      '.git/config': '',
    });
    expect(await found(root)).toEqual([
      '.gitignore',
      'a.py',
      'kept.log',
      'src/.gitignore',
      'src/b.log',
      'src/deep/z',
    ]);
  });

  it('obey the rules of the repository that the folder is a part of, and those of this clone', async () => {
    const repository = temporaryFolder({
      '.gitignore': '/part/generated\n*.tmp\n',
      '.git/info/exclude': 'mine\n',
      'part/generated/a': '',
      'part/in/b.tmp': '',
      'part/mine': '',
      'part/c': '',
    });
    expect(await found(path.join(repository, 'part'))).toEqual(['c']);
  });

  it('do not obey rules above a folder that is in no repository', async () => {
    const outside = temporaryFolder({ '.gitignore': '*\n', 'in/a': '' });
    expect(await found(path.join(outside, 'in'))).toEqual(['a']);
  });

  it("leave out what the editor's globs exclude", async () => {
    const root = temporaryFolder({
      'node_modules/a/b.js': '',
      'pkg/node_modules/c.js': '',
      'pkg/d.pyc': '',
      'out/e': '',
      'pkg/out/f': '',
    });
    const globs = ['**/node_modules', '**/*.{pyc,pyo}', 'out'];
    expect(await found(root, { globs })).toEqual(['pkg/out/f']);
    expect(patternsOf('{a,b}/{c,d}')).toEqual(['/a/c', '/a/d', '/b/c', '/b/d']);
  });

  it('are not more than the bound, which is told', async () => {
    const root = temporaryFolder({ a: '', b: '', 'c/d': '', 'c/e': '' });
    const rules = await IgnoreRules.atRoot(root, []);
    const cut = await walk(root, rules, { maxFiles: 3 });
    expect([cut.files.size, cut.isCut]).toEqual([3, true]);
    const whole = await walk(root, rules, { maxFiles: 4 });
    expect([whole.files.size, whole.isCut]).toEqual([4, false]);
  });

  it.skipIf(process.platform === 'win32')('are links too, but not what they lead to', async () => {
    const root = temporaryFolder({ 'in/a': '' });
    fs.symlinkSync(root, path.join(root, 'around'));
    expect(await found(root)).toEqual(['around', 'in/a']);
  });

  it('are no longer looked at when that is called off', async () => {
    const root = temporaryFolder({ a: '' });
    const reason = new Error('called off');
    const rules = await IgnoreRules.atRoot(root, []);
    const signal = AbortSignal.abort(reason);
    await expect(walk(root, rules, { maxFiles: 9, signal })).rejects.toBe(reason);
  });
});

describe('a long loop', () => {
  it('lets others have the thread when it had it for long enough', async () => {
    const pace = new Pace();
    let others = 0;
    setImmediate(() => others++);
    await pace.turn();
    expect(others).toBe(0);
    const until = performance.now() + 15;
    while (performance.now() < until);
    await pace.turn();
    expect(others).toBe(1);
  });
});
