import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunnerProcess } from '../support/runnerProcess';

let runner: RunnerProcess;
let folder: string;
beforeAll(async () => {
  runner = await RunnerProcess.start();
  folder = mkdtempSync(path.join(tmpdir(), 'holdfast-errors-'));
});
afterAll(async () => {
  await runner.stop();
  rmSync(folder, { recursive: true });
});

const traceback = async (code: string, where: { file?: string; line?: number } = {}) =>
  (await runner.run(code, where)).error?.traceback ?? '';

describe('tracebacks of the Python runner', () => {
  it('name the user’s file and lines, with the text that was run, not the text on disk', async () => {
    const file = path.join(folder, 'unsaved.py');
    writeFileSync(file, 'first = 1\nsecond = 2\nold text = 3\n');
    await runner.run('def fail():\n    return 1 / 0  # unsaved', { file, line: 3 });
    const text = await traceback('fail()', { file, line: 40 });
    expect(text).toContain(`  File "${file}", line 40, in <module>\n    fail()`);
    expect(text).toContain(`  File "${file}", line 4, in fail\n    return 1 / 0  # unsaved`);
    expect(text).not.toContain('runner.py');
    const lines = await runner.run(
      `import linecache; linecache.checkcache(); (linecache.getline(${JSON.stringify(file)}, 1), fail.__code__.co_filename)`,
    );
    expect(lines.result).toBe(`('first = 1\\n', '${file}')`);
  });

  it('without a file name the run', async () => {
    const text = await traceback('\nraise KeyError("k")');
    expect(text).toMatch(
      /^Traceback \(most recent call last\):\n {2}File "<run \d+>", line 2, in <module>\n {4}raise KeyError\("k"\)\nKeyError: 'k'\n$/,
    );
  });

  it('inspect.getsource and the traceback module see the text, from the first run on', async () => {
    const fresh = await RunnerProcess.start();
    const run = await fresh.run(`import inspect, traceback
def f():
    return 1  # text
print(inspect.getsource(f))
try: 1 / 0  # that
except Exception: traceback.print_exc()`);
    await fresh.stop();
    expect(run.text()).toBe('def f():\n    return 1  # text\n\n');
    expect(run.text('stderr')).toContain('1 / 0  # that');
  });

  it('show chained exceptions', async () => {
    const text = await traceback(`try: {}['a']
except KeyError as error: raise ValueError('outer') from error`);
    expect(text).toContain('The above exception was the direct cause');
    expect(text).toContain("KeyError: 'a'");
    expect(text).not.toContain('runner.py');
  });

  it('show a syntax error with its caret and without a header', async () => {
    expect(await traceback('x = (1,\ny = 2 3')).toMatch(
      /^ {2}File "<run \d+>", line \d+\n[^]*\^[^]*\nSyntaxError: /,
    );
  });

  it('show exception groups (Python 3.11 and newer)', async ({ skip }) => {
    const version = runner.ready.version.split('.').map(Number);
    skip((version[1] ?? 0) < 11);
    const text = await traceback(
      "raise ExceptionGroup('several', [ValueError(1), TypeError('t')])",
    );
    expect(text).toContain('ExceptionGroup: several (2 sub-exceptions)');
    expect(text).toContain('TypeError: t');
  });

  it('stay bounded for endless recursion, direct or mutual', async () => {
    const direct = await runner.run('def f(): f()\nf()');
    expect(direct.error?.name).toBe('RecursionError');
    const mutual = await runner.run('def a(): b()\ndef b(): a()\na()');
    expect(mutual.error?.traceback.length).toBeLessThan(70_000);
    expect(mutual.error?.traceback).toContain('RecursionError');
    expect((await runner.run('1')).result).toBe('1');
  });

  it('survive an exception whose text raises', async () => {
    const run = await runner.run(`class Bad(Exception):
    def __str__(self): raise RuntimeError('no')
    __repr__ = __str__
raise Bad`);
    expect(run.error).toMatchObject({ name: 'Bad' });
    expect(run.error?.traceback).toContain('raise Bad');
  });

  it('a repr that raises is shown in place, and the run is none the worse', async () => {
    const run = await runner.run(`class Mute:
    def __repr__(self): raise ValueError('hush')
print('before')
Mute()`);
    expect(run.text()).toBe('before\n');
    expect(run.result).toMatch(/^<Mute object at 0x.*: its repr raised ValueError: hush>$/);
    expect(run.done.status).toBe('ok');
  });

  it('a huge message is cut with a mark', async () => {
    const run = await runner.run("raise ValueError('x' * 5_000_000)");
    expect(run.error?.traceback.length).toBeLessThan(70_000);
    expect(run.error?.traceback).toMatch(/… \d+ characters …/);
  });
});

describe('leaving', () => {
  it('SystemExit ends the run, not the session', async () => {
    expect((await runner.run('kept = 1; exit()')).done.status).toBe('ok');
    expect((await runner.run('import sys; sys.exit(0)')).done.status).toBe('ok');
    const run = await runner.run("sys.exit('sorry')");
    expect(run.done.status).toBe('error');
    expect(run.error).toMatchObject({ name: 'SystemExit', value: 'sorry' });
    expect((await runner.run('quit(3)')).error?.traceback).toBe('SystemExit: 3\n');
    expect((await runner.run('kept')).result).toBe('1');
  });

  it('os._exit really exits, and what was printed before is not lost', async () => {
    const fresh = await RunnerProcess.start();
    const id = fresh.begin('import os\nfor i in range(200): print(i)\nos._exit(7)');
    await fresh.printed(id, '\n199\n');
    expect(await fresh.exited).toEqual({ code: 7, signal: null });
  });

  it('an exit frame leaves by the interpreter’s normal exit once the run is over', async () => {
    const fresh = await RunnerProcess.start();
    const id = fresh.begin(`import atexit, time
atexit.register(print, 'at exit')
time.sleep(0.05); print('done')`);
    fresh.send({ op: 'exit' });
    await fresh.finish(id);
    expect(await fresh.exited).toEqual({ code: 0, signal: null });
    await fresh.until(
      (item) => item.op === 'stream' && item.run === null && item.text === 'at exit\n',
    );
  });

  it('vscode-jupyter 17286: a session that kills itself is gone by that signal', async () => {
    const fresh = await RunnerProcess.start();
    const id = fresh.begin("print('last words'); import os; os.kill(os.getpid(), 9)");
    await fresh.printed(id, 'last words\n');
    expect(await fresh.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('vscode-jupyter 13087: a segmentation fault leaves its lines on stderr', async () => {
    const fresh = await RunnerProcess.start();
    const id = fresh.begin("print('before')\nimport ctypes; ctypes.string_at(0)");
    await fresh.printed(id, 'before\n');
    await fresh.until(
      (item) => item.op === 'bytes' && item.fd === 2 && item.text.includes('<run 1>'),
    );
    expect((await fresh.exited).signal).toBe('SIGSEGV');
    expect(
      fresh.heard.some((item) => item.op === 'bytes' && item.text.includes('Segmentation fault')),
    ).toBe(true);
  });
});
