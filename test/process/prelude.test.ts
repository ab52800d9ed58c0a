import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { introspectHelpers } from '../../src/editor/python/helpers';
import { contentOf, readPrelude, type Prelude } from '../../src/editor/python/prelude';
import { runPrelude } from '../../src/editor/python/runPrelude';
import type { PooledKernel } from '../../src/kernel/kernel';
import type { KernelOutput } from '../../src/kernel/output';
import { hostingForTest, run, startPython, temporaryFolder } from './support/hosting';

async function preludeOf(files: Readonly<Record<string, string>>): Promise<Prelude> {
  const folder = temporaryFolder();
  for (const [name, code] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), code);
  return read(folder, Object.keys(files));
}

function read(folder: string, setting: readonly string[]): Promise<Prelude> {
  return readPrelude({
    setting,
    folder,
    machine: { platform: process.platform, home: folder },
    readText: (file) => fs.promises.readFile(file, 'utf8'),
  });
}

/** Runs a prelude and answers what it reported, notes and outputs in order. */
async function begin(
  kernel: PooledKernel,
  prelude: Prelude,
  signal = new AbortController().signal,
): Promise<(string | KernelOutput)[]> {
  const reported: (string | KernelOutput)[] = [];
  await runPrelude(kernel, prelude, signal, {
    output: (output) => reported.push(output),
    note: (text) => reported.push(text),
  });
  return reported;
}

let looks = 0;
const nextId = (): string => `look ${++looks}`;

const tools = `"""Tools."""
import math as _math
from json import dumps

limit = 3

# Category: Numbers
def half(n: float, *, digits=2) -> float:
    """Half of it, rounded.

    More words.
    """
    return round(n / 2, digits)

class Grid(dict):
    """Cells by place."""
    def __init__(self, width, height=1): ...

# Category: Wörter 𝒳
try:
    async def shout(text): return text.upper() + "é𝒳"
finally:
    pass

def _private(): ...
def replaced(): ...
`;

test('a prelude runs in order in the session’s namespace, and its helpers are told', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const prelude = await preludeOf({
    'a tools.py': tools,
    'b.py': 'def quarter(n): return half(half(n))\nprint("loaded", __file__)\nlimit',
  });
  const [said, ...more] = await begin(kernel, prelude);
  expect(said).toMatchObject({ type: 'stream', text: `loaded ${prelude.files[1]?.path}\n` });
  expect(more).toEqual([]);

  const names = 'print(sorted(n for n in globals() if not n.startswith("__")))';
  const before = run(kernel, `replaced = len\n${names}`);
  await before.reply;
  const helpers = await introspectHelpers(kernel, prelude.files, nextId);
  expect(helpers).toEqual([
    {
      name: 'half',
      signature: '(n: float, *, digits=2) -> float',
      docstring: 'Half of it, rounded.',
      category: 'Numbers',
    },
    {
      name: 'Grid',
      signature: '(width, height=1)',
      docstring: 'Cells by place.',
      category: 'Numbers',
    },
    { name: 'shout', signature: '(text)', docstring: '', category: 'Wörter 𝒳' },
    { name: 'quarter', signature: '(n)', docstring: '', category: 'b' },
  ]);
  const after = run(kernel, names);
  await after.reply;
  expect(after.text()).toBe(before.text());
});

test('an error in one file is told with its own name and line, and the next one runs', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const prelude = await preludeOf({
    'bad.py': 'early = 1\n\nboom()\nlate = 1\n',
    'good.py': 'good = 2\n',
  });
  const [note, error, ...more] = await begin(kernel, prelude);
  expect(note).toBe(
    'The prelude file bad.py ended with NameError. The session goes on without what comes after.',
  );
  expect(error).toMatchObject({
    type: 'error',
    traceback: expect.stringContaining(`File "${prelude.files[0]?.path}", line 3`) as string,
  });
  expect(more).toEqual([]);
  const check = run(kernel, 'print(early, good, "late" in globals())');
  await check.reply;
  expect(check.text()).toBe('1 2 False\n');
});

test('a file that is not there is named with the setting', async () => {
  const folder = temporaryFolder();
  const { files, missing } = await read(folder, ['~/none.py', ' ', '${workspaceFolder}/x.py']);
  expect(files).toEqual([]);
  expect(missing).toEqual([
    expect.stringContaining(`"holdfast.python.prelude" names ${path.join(folder, 'none.py')}`),
    expect.stringContaining(path.join(folder, 'x.py')),
  ]);
});

test('a file that ends the kernel fails the start, so that it is not tried for ever', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const prelude = await preludeOf({ 'fatal.py': 'import os\nos._exit(3)\n' });
  await expect(begin(kernel, prelude)).rejects.toMatchObject({
    code: 'start_failed',
    message: expect.stringContaining('fatal.py') as string,
  });
});

test('a start that is called off interrupts the file that runs, and says which', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const prelude = await preludeOf({
    'slow.py': 'print("begun")\nwhile True: pass\n',
    'next.py': 'print("never")\n',
  });
  const start = new AbortController();
  const reported: (string | KernelOutput)[] = [];
  await runPrelude(kernel, prelude, start.signal, {
    output(output) {
      reported.push(output);
      if (output.type === 'stream') start.abort();
    },
    note: (text) => reported.push(text),
  });
  expect(reported.at(-1)).toContain('slow.py ran');
  expect(JSON.stringify(reported)).not.toContain('never');
});

test('equal files with an equal interpreter have equal content, and nothing else has', async () => {
  const folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, 'a.py'), 'a = 1\n');
  fs.writeFileSync(path.join(folder, 'b.py'), 'a = 1\n');
  const a = await read(folder, ['a.py']);
  expect(contentOf(a, '/py')).toBe(contentOf(await read(folder, ['./a.py']), '/py'));
  const others = [contentOf(a, '/py2'), contentOf(await read(folder, ['b.py']), '/py')];
  fs.writeFileSync(path.join(folder, 'a.py'), 'a = 2\n');
  others.push(contentOf(await read(folder, ['a.py']), '/py'));
  expect(new Set([contentOf(a, '/py'), ...others]).size).toBe(4);
});
