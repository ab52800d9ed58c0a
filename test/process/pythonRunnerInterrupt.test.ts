import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunnerProcess } from '../support/runnerProcess';

let runner: RunnerProcess;
beforeAll(async () => {
  runner = await RunnerProcess.start();
});
afterAll(() => runner.stop());

/** Runs code that prints `on` and then hangs; interrupts it there. */
async function interrupted(code: string, options: { stdin?: boolean } = {}) {
  const id = runner.begin(code, options);
  await runner.printed(id, 'on\n');
  runner.interrupt();
  return runner.finish(id);
}

describe('an interrupt of the Python runner', () => {
  it.each([
    ['a busy loop', "print('on')\nwhile True: pass"],
    ['a sleep', "import time; print('on'); time.sleep(1000)"],
    ['a flood', "print('on')\nwhile True: print('x')"],
    ['a subprocess wait', "import subprocess; print('on'); subprocess.run(['sleep', '1000'])"],
    ['an await', "import asyncio; print('on'); await asyncio.sleep(1000)"],
    ['a busy coroutine', "async def f():\n    while True: pass\nprint('on'); await f()"],
    ['a lock', "import threading; print('on'); threading.Event().wait()"],
    [
      'a repr',
      "class Slow:\n    def __repr__(self):\n        while True: pass\nprint('on')\nSlow()",
    ],
    [
      'an error’s text',
      "class E(Exception):\n    def __str__(self):\n        print('on')\n        while True: pass\nraise E",
    ],
  ])('ends %s', async (_, code) => {
    const run = await interrupted(code);
    expect(run.done.status).toBe('error');
    expect((await runner.run('1')).result).toBe('1');
    if (code.includes('raise E')) return;
    expect(run.done.interrupted).toBe(true);
    expect(run.error?.name).toBe('KeyboardInterrupt');
    expect(run.error?.traceback).toMatch(/<run \d+>/);
    expect(run.error?.traceback).not.toContain('runner.py');
  });

  it('of an await cancels the task, which may clean up', async () => {
    const run = await interrupted(`import asyncio
async def work():
    try: print('on'); await asyncio.sleep(1000)
    finally: await asyncio.sleep(0.01); print('cleaned')
await work()`);
    expect(run.text()).toBe('on\ncleaned\n');
    expect(run.error?.name).toBe('KeyboardInterrupt');
  });

  it('ends a wait for input', async () => {
    const id = runner.begin("input('> ')", { stdin: true });
    await runner.until((item) => item.op === 'input' && item.run === id);
    runner.interrupt();
    expect((await runner.finish(id)).done).toMatchObject({ status: 'error', interrupted: true });
  });

  it('vscode-jupyter 14959: reaches a shell loop; the child is gone, the session is not', async () => {
    const run = await interrupted(
      "import subprocess\nprint('on'); subprocess.call(['bash', '-c', 'while :; do sleep 1; done'])",
    );
    expect(run.done.interrupted).toBe(true);
    const children = await runner.run(
      "import os; [p for p in os.popen('ps -o args= --ppid %d' % os.getpid()) if 'while' in p]",
    );
    expect(children.result).toBe('[]');
  });

  it('vscode-jupyter 2158: one that is swallowed leaves the next one to be delivered', async () => {
    // It says that it waits from inside the `try`, so that no interrupt comes before that.
    const id = runner.begin(`import time
caught = 0
def wait():
    print('waits', caught)
    time.sleep(1000)
while caught < 2:
    try: wait()
    except KeyboardInterrupt: caught += 1`);
    await runner.printed(id, 'waits 0\n');
    runner.interrupt();
    await runner.printed(id, 'waits 1\n');
    runner.interrupt();
    const run = await runner.finish(id);
    expect(run.done).toMatchObject({ status: 'ok', interrupted: false });
  });

  it('while nothing runs does nothing, to the next run neither', async () => {
    runner.interrupt();
    runner.interrupt();
    expect((await runner.run('import time; time.sleep(0.02); 5')).result).toBe('5');
  });

  it('works again after code that changed the handler', async () => {
    await runner.run('import signal; h = signal.signal(signal.SIGINT, signal.SIG_IGN)');
    const run = await interrupted("print('on')\nwhile True: pass");
    expect(run.done.interrupted).toBe(true);
  });

  it('can come as a frame, where there are no signals', async () => {
    const id = runner.begin("print('on')\nwhile True: pass");
    await runner.printed(id, 'on\n');
    runner.send({ op: 'interrupt' });
    expect((await runner.finish(id)).done.interrupted).toBe(true);
  });

  it('a hundred of them, aimed at the end of runs, leave one done for each run', async () => {
    for (let round = 0; round < 100; round += 1) {
      const id = runner.begin('for i in range(2000): pass\nprint(i)');
      await new Promise((resolve) => setImmediate(resolve));
      runner.interrupt();
      await runner.finish(id);
    }
    expect((await runner.run("'alive'")).result).toBe("'alive'");
    const done = runner.heard.flatMap((item) => (item.op === 'done' ? [item.run] : []));
    expect(new Set(done).size).toBe(done.length);
  });
});
