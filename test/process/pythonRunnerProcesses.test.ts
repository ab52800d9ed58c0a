import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeControlFrame } from '../../src/kernelHost/embedded/frames';
import { pythonLaunch } from '../../src/kernelHost/embedded/python';
import { RunnerProcess, runnerFile } from '../support/runnerProcess';

/** Alive and no zombie. */
function runs(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves once the process is gone, by reading its state: it is no child of ours whose exit would be told. */
async function gone(pid: number): Promise<void> {
  while (runs(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

const busyWithChild = `import os, subprocess
child = subprocess.Popen(['sleep', '1000'])
os.write(2, b'child %d.' % child.pid)
while True: pass`;

const childPid = (text: string) => Number(/child (\d+)\./.exec(text)?.[1]);

describe('the process group of the Python runner', () => {
  it('ends at once when the control descriptor closes, busy as it is, with its children', async () => {
    const runner = await RunnerProcess.start();
    runner.begin(busyWithChild);
    const told = await runner.until((item) => item.op === 'bytes' && item.text.includes('.'));
    const child = told.op === 'bytes' ? childPid(told.text) : 0;
    expect(runs(child)).toBe(true);
    runner.control.destroy();
    expect(await runner.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await gone(child);
  });

  it('ends when idle, too', async () => {
    const runner = await RunnerProcess.start();
    runner.control.destroy();
    expect((await runner.exited).signal).toBe('SIGKILL');
  });

  it('ends when its parent is killed', async () => {
    const launch = pythonLaunch(process.env['HOLDFAST_TEST_PYTHON'] ?? 'python3', runnerFile);
    const frame = encodeControlFrame({ op: 'execute', id: 'r', code: busyWithChild, stdin: false });
    // Its children's words come through fd 2, handed on to us.
    const parentCode = `
      const runner = require('node:child_process').spawn(
        ${JSON.stringify(launch.command)}, ${JSON.stringify(launch.args)},
        { detached: true, stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
      runner.stdio[3].write(Buffer.from('${frame.toString('base64')}', 'base64'));
      runner.stderr.on('data', (bytes) => process.stdout.write('runner ' + runner.pid + ' ' + bytes));`;
    const parent = spawn(process.execPath, ['-e', parentCode], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    while (!text.includes('.')) {
      const [bytes] = (await once(parent.stdout, 'data')) as [Buffer];
      text += bytes.toString();
    }
    const runner = Number(/runner (\d+)/.exec(text)?.[1]);
    expect(runs(runner) && runs(childPid(text))).toBe(true);
    parent.kill('SIGKILL');
    await gone(runner);
    await gone(childPid(text));
  });
});

describe('forks of the Python runner', () => {
  it('print beside each other and beside the session, each line whole', async () => {
    const runner = await RunnerProcess.start();
    const run = await runner.run(`import os, sys
print('before')
children = []
for i in range(4):
    pid = os.fork()
    if pid == 0:
        for n in range(500): print('child', i, n, 'x' * 100)
        print('err', i, file=sys.stderr)
        os._exit(0)
    children.append(pid)
for n in range(500): print('parent', n)
for pid in children: os.waitpid(pid, 0)
print('after')`);
    await runner.stop();
    expect(run.text().replace(/parent \d+\n/g, '')).toBe('before\nafter\n');
    const printed = run.heard.flatMap((item) =>
      item.op === 'bytes' && item.fd === 1 ? [item.text] : [],
    );
    expect(printed.join('').match(/^child \d \d+ x{100}$/gm)).toHaveLength(2000);
    expect(run.text('stderr')).toBe('');
    expect(run.everything.match(/^err \d$/gm)).toHaveLength(4);
  });

  it('that go on to the end of the code are no second session', async () => {
    const runner = await RunnerProcess.start();
    const run = await runner.run(`import os
pid = os.fork()
print('in', 'child' if pid == 0 else 'parent')
if pid == 0: 1 / 0
os.waitpid(pid, 0)[1] >> 8`);
    expect(run.result).toBe('1');
    expect(run.text()).toBe('in parent\n');
    expect(run.everything).toContain('in child\n');
    expect(run.everything).toContain('ZeroDivisionError');
    expect(run.error).toBeUndefined();
    expect((await runner.run('pid > 0')).result).toBe('True');
    await runner.stop();
  });

  it('multiprocessing of every kind prints to the session', async () => {
    const runner = await RunnerProcess.start();
    const run = await runner.run(`import multiprocessing, sys
for kind in 'fork', 'spawn', 'forkserver':
    p = multiprocessing.get_context(kind).Process(target=print, args=('from', kind)); p.start(); p.join()
    print('after', kind, p.exitcode)`);
    await runner.stop();
    expect(run.error?.traceback).toBeUndefined();
    expect(run.everything).toBe(
      ['fork', 'spawn', 'forkserver'].map((kind) => `from ${kind}\nafter ${kind} 0\n`).join(''),
    );
  });

  it('have no displays and no input', async () => {
    const runner = await RunnerProcess.start();
    const run = await runner.run(
      `import os
if os.fork() == 0:
    display('shown'); clear_output()
    try: input()
    except EOFError as error: print(error)
    os._exit(0)
os.wait()[1]`,
      { stdin: true },
    );
    await runner.stop();
    expect(run.everything).toBe(
      "'shown'\ninput() does not reach the session from a child process\n",
    );
    expect(run.result).toBe('0');
    expect(run.frames('display')).toEqual([]);
  });
});

describe('the shipped runner', () => {
  it('is one ASCII-safe file that needs nothing but Python', () => {
    expect(path.basename(runnerFile)).toBe('runner.py');
    expect(readFileSync(runnerFile, 'utf8')).not.toMatch(
      /^(import|from) (?!_|atexit|builtins|faulthandler|fcntl|io|os|sys|time)/m,
    );
  });
});
