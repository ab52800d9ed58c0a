import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunnerProcess } from '../support/runnerProcess';

let runner: RunnerProcess;
let folder: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-runner-')));
  runner = await RunnerProcess.start({ cwd: folder });
});

afterAll(async () => {
  await runner.stop();
  rmSync(folder, { recursive: true });
});

const result = async (code: string) => (await runner.run(code)).result;

describe('a session of the Python runner', () => {
  it('is a fresh __main__ with the usual dunders and nothing of ours', async () => {
    const fresh = await RunnerProcess.start();
    const { result } = await fresh.run("[n for n in dir() if n != '__annotations__']");
    await fresh.stop();
    expect(result).toBe(
      "['__builtins__', '__doc__', '__loader__', '__name__', '__package__', '__spec__']",
    );
  });

  it('keeps names from run to run, and shows the value of the last expression only', async () => {
    expect(await result('x = 20\n1\nx + 1')).toBe('21');
    expect(await result('_ * 2')).toBe('42');
    expect(await result('x = 3')).toBeUndefined();
    expect(await result('None')).toBeUndefined();
    expect(await result('_')).toBe('42');
  });

  it.each(['x;', '(\n  x\n) ; # no value', 'x # ;'])(
    'a trailing semicolon suppresses the value: %j',
    async (code) => {
      await runner.run('x = 3');
      expect(await result(code)).toBe(code.endsWith('# ;') ? '3' : undefined);
    },
  );

  it('has __name__ == "__main__" as a real module: pickle and dataclasses find their classes', async () => {
    const code = `
import pickle, sys
from dataclasses import dataclass
@dataclass
class Point:
    x: 'int'
(__name__, pickle.loads(pickle.dumps(Point(3))), sys.modules['__main__'].Point is Point)`;
    expect(await result(code)).toBe("('__main__', Point(x=3), True)");
  });

  it('multiprocessing by fork runs functions that were defined in the session', async () => {
    const code = `
import multiprocessing
def square(n): return n * n
with multiprocessing.get_context('fork').Pool(2) as pool: squares = pool.map(square, range(5))
squares`;
    const run = await runner.run(code);
    expect(run.error?.traceback).toBeUndefined();
    expect(run.result).toBe('[0, 1, 4, 9, 16]');
    expect(run.everything).not.toContain('Warning');
  });

  it('multiprocessing by spawn runs functions of a saved file', async () => {
    const file = path.join(folder, 'spawned.py');
    const code = `
import multiprocessing
def cube(n): return n ** 3
if __name__ == '__main__':
    with multiprocessing.get_context('spawn').Pool(1) as pool: print(pool.map(cube, range(4)))
`;
    writeFileSync(file, code);
    const run = await runner.run(code, { file, line: 1 });
    expect(run.error?.traceback).toBeUndefined();
    expect(run.text()).toBe('[0, 1, 8, 27]\n');
  });

  it('__file__ is the user’s file while a run from it lasts', async () => {
    const file = path.join(folder, 'a"b é 日本.py');
    expect((await runner.run('__file__', { file, line: 4 })).result).toContain('a"b é 日本.py');
    expect(await result("'__file__' in globals()")).toBe('False');
  });

  it('vscode-jupyter 5489: sys.executable and sys.prefix are the interpreter’s own', async () => {
    expect(await result('import sys; print(sys.executable); sys.prefix')).toBe(
      `'${runner.ready.prefix}'`,
    );
    expect(runner.ready.executable).not.toBe('');
    expect(await result('import os; os.getcwd()')).toBe(`'${folder}'`);
    expect(await result('sys.argv, sys.path[0]')).toBe("([''], '')");
  });

  it('future statements hold for the runs that follow', async () => {
    const fresh = await RunnerProcess.start();
    await fresh.run('from __future__ import annotations');
    expect((await fresh.run('def f(x: nowhere): pass\nf.__annotations__')).result).toBe(
      "{'x': 'nowhere'}",
    );
    await fresh.stop();
  });

  it('code with a null byte or a lone surrogate is an error of that run', async () => {
    expect((await runner.run('x = 1\0')).done.status).toBe('error');
    expect((await runner.run("'\ud800'")).done.status).toBe('error');
    expect(await result('1')).toBe('1');
  });

  it('nothing but blank lines and comments does nothing', async () => {
    expect((await runner.run('\n   # no code\n\n')).done.status).toBe('ok');
    expect((await runner.run('')).done.status).toBe('ok');
  });
});

describe('indented code', () => {
  it('vscode-jupyter 10443, 7303: runs unchanged, the bytes of a triple-quoted string too', async () => {
    const code =
      '    text = """a\n  b\n\tc"""\n    if True:\n        y = 5\n    (text, y)\n# end\n\n';
    expect(await result(code)).toBe("('a\\n  b\\n\\tc', 5)");
  });

  it('may go on less indented, by several steps', async () => {
    const code = '            a = 1\n        b = a + 1\n    c = b + 1\nd = c + 1\nd';
    expect(await result(code)).toBe('4');
    expect(await result('\t\ta = 1\n\ta')).toBe('1');
  });

  it.each([1, 2, 3, 40])('keeps the line numbers of a file from line %i on', async (line) => {
    const file = path.join(folder, 'lines.py');
    const run = await runner.run('        a = 1\n    a\n    1 / 0  # here', { file, line });
    expect(run.error?.traceback).toContain(`File "${file}", line ${line + 2}, in <module>`);
    expect(run.error?.traceback).toContain('1 / 0  # here');
  });

  it('tells a syntax error at its own line', async () => {
    const run = await runner.run('    a = 1\n    b = = 2', { file: '/none/x.py', line: 1 });
    expect(run.error?.traceback).toContain('File "/none/x.py", line 2\n');
    expect(run.error?.traceback).toContain('b = = 2');
    expect(run.error?.traceback).toContain('^');
  });

  it('an indentation that matches nothing stays an error', async () => {
    const run = await runner.run('    if 1:\n            a = 1\n        b = 2');
    expect(run.error?.name).toBe('IndentationError');
  });
});

describe('top-level await', () => {
  it('vscode-jupyter 5386, 16395: works, subprocesses included', async () => {
    const code = `import asyncio, sys
p = await asyncio.create_subprocess_exec(sys.executable, '-V', stdout=asyncio.subprocess.PIPE)
(await p.communicate())[0].decode().strip()`;
    expect(await result(code)).toBe(`'Python ${runner.ready.version}'`);
  });

  it('shares one loop between runs: a background task goes on at the next await', async () => {
    await runner.run(`import asyncio
ticks = []
async def tick():
    while True:
        ticks.append(len(ticks)); await asyncio.sleep(0)
task = asyncio.ensure_future(tick()); await asyncio.sleep(0)`);
    expect(
      await result('before = len(ticks)\nawait asyncio.sleep(0.01)\nlen(ticks) > before'),
    ).toBe('True');
    expect(await result('task.cancel()')).toBe('True');
  });

  it('async for, async with and comprehensions stand at the top level too', async () => {
    const code = `async def numbers():
    for n in range(3): yield n
async for n in numbers(): print(n)
[n async for n in numbers()]`;
    const run = await runner.run(code);
    expect(run.text()).toBe('0\n1\n2\n');
    expect(run.result).toBe('[0, 1, 2]');
  });

  it('a traceback names only the user’s frames', async () => {
    const run = await runner.run(`async def fail():
    await asyncio.sleep(0)
    raise ValueError('x')
await fail()`);
    const files = [...(run.error?.traceback ?? '').matchAll(/File "(.*?)"/g)].map(
      ([, file]) => file,
    );
    expect(files).toHaveLength(2);
    expect(new Set(files).size).toBe(1);
  });
});
