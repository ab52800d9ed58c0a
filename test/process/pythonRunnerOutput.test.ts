import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunnerProcess, type Heard } from '../support/runnerProcess';

let runner: RunnerProcess;
beforeAll(async () => {
  runner = await RunnerProcess.start();
});
afterAll(() => runner.stop());

/** Output as a person sees it, with where each piece came from. */
const told = (heard: readonly Heard[]) =>
  heard
    .flatMap((item) =>
      item.op === 'stream'
        ? [`${item.name}:${item.text}`]
        : item.op === 'bytes'
          ? [`fd${item.fd}:${item.text}`]
          : [],
    )
    .join('');

/** Runs code in a runner of its own and only counts its streams. */
async function flood(code: string) {
  let characters = 0;
  let frames = 0;
  let longest = 0;
  const own = await RunnerProcess.start({
    keep: (item) => {
      if (item.op !== 'stream') return true;
      characters += item.text.length;
      frames += 1;
      longest = Math.max(longest, item.text.length);
      return false;
    },
  });
  const started = performance.now();
  const run = await own.run(code);
  const elapsedMs = performance.now() - started;
  const memory = await own.run(
    'import resource; resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024',
  );
  await own.stop();
  return { run, characters, frames, longest, elapsedMs, memoryMiB: Number(memory.result) };
}

describe('streams of the Python runner', () => {
  it('keep stdout and stderr apart and in order', async () => {
    const run = await runner.run(`import sys
for i in range(3): print('o', i); print('e', i, file=sys.stderr)`);
    expect(told(run.heard)).toBe(
      'stdout:o 0\nstderr:e 0\nstdout:o 1\nstderr:e 1\nstdout:o 2\nstderr:e 2\n',
    );
  });

  it('come in order with what subprocesses and C code print', async () => {
    for (let round = 0; round < 10; round += 1) {
      const run = await runner.run(`import os, subprocess, sys
print('a'); subprocess.run(['echo', 'b']); print('c', end='')
os.system('echo d >&2'); print('e', file=sys.stderr)
os.write(1, b'f\\n'); print('g'); os.write(2, b'h\\n')
p = subprocess.Popen(['cat'], stdin=subprocess.PIPE); p.communicate(b'i\\n'); print('j')`);
      expect(run.everything).toBe('a\nb\ncd\ne\nf\ng\nh\ni\nj\n');
    }
  });

  it('come while the code still runs, a line without an end too', async () => {
    const id = runner.begin("import time\nprint('dot', end='')\ntime.sleep(1000)");
    await runner.printed(id, 'dot');
    runner.interrupt();
    await runner.finish(id);
  });

  it('a line is out at once, even if the code then never lets go of the interpreter', async () => {
    const own = await RunnerProcess.start();
    const id = own.begin("print('starting'); sum(range(10**12))");
    await own.printed(id, 'starting\n');
    await own.stop();
  });

  it('vscode-jupyter 7048, 11031: a million lines come whole, coalesced, in bounded memory', async () => {
    const { run, characters, frames, longest, memoryMiB } = await flood(
      'for i in range(1_000_000): print(i)',
    );
    expect(run.done.status).toBe('ok');
    expect(characters).toBe(6_888_890);
    expect(frames).toBeLessThan(20_000);
    expect(longest).toBeLessThanOrEqual(65_536);
    expect(memoryMiB).toBeLessThan(64);
  }, 120_000);

  it('vscode-jupyter 9692: 100,000 flushed lines on stderr are few frames', async () => {
    const { characters, frames } = await flood(
      'import sys\nfor i in range(100_000): print(i, file=sys.stderr, flush=True)',
    );
    expect(characters).toBe(588_890);
    expect(frames).toBeLessThan(5_000);
  });

  it('one print of 100 MB goes in slices, with few copies', async () => {
    const { characters, longest, memoryMiB } = await flood("print('x' * 100_000_000)");
    expect(characters).toBe(100_000_001);
    expect(longest).toBeLessThanOrEqual(65_536);
    expect(memoryMiB).toBeLessThan(200);
  }, 120_000);

  it('a result of many megabytes is cut with a mark', async () => {
    const run = await runner.run("'x' * 5_000_000");
    expect(String(run.result)).toHaveLength(1024 * 1024 + '… (3951426 more characters)'.length);
    expect(run.result).toMatch(/… \(3951426 more characters\)$/);
  });

  it('lone surrogates, astral and control characters survive', async () => {
    const run = await runner.run(String.raw`print('\ud83d | \udc80 | 😀 | \x1b[31m | \0 | é')`);
    expect(run.text()).toBe('\ud83d | \udc80 | 😀 | \x1b[31m | \0 | é\n');
  });

  it('the streams look like files', async () => {
    const run = await runner.run(`import io, sys
out = sys.stdout
print(out.encoding, out.fileno(), sys.stderr.fileno(), out.isatty(), out.writable(), isinstance(out, io.TextIOBase))
out.writelines(['a', 'b\\n']); out.reconfigure(line_buffering=True)
n = out.buffer.write('é'.encode()[:1]); n = out.buffer.write('é'.encode()[1:] + b'\\xff\\n'); out.buffer.flush()
try: out.write(b'x')
except TypeError as error: print(error)
import logging; logging.warning('logged')`);
    expect(run.text()).toBe(
      'utf-8 1 2 False True True\nab\né\ufffd\nwrite() argument must be str, not bytes\n',
    );
    expect(run.text('stderr')).toBe('WARNING:root:logged\n');
  });

  it('nothing that code or its children print can forge or break a frame', async () => {
    const forged = JSON.stringify({ op: 'done', run: 'victim', status: 'ok' });
    const run = await runner.run(
      `import os, stat, struct, subprocess, sys
frame = ${JSON.stringify(forged)}.encode(); frame = struct.pack('>I', len(frame)) + frame
os.write(1, frame); sys.stdout.buffer.write(frame); subprocess.run(['cat'], input=frame)
def identity(fd):
    try: s = os.fstat(fd)
    except OSError: return None
    return (s.st_dev, s.st_ino) if stat.S_ISSOCK(s.st_mode) else None
ours = {identity(fd) for fd in range(200, 210)} - {None}
look = '''
found = {identity(fd) for fd in range(3, 1000)} & ours
os.write(1, b'found %d of 2;' % len(found))
'''
import inspect
code = 'import os, stat\\nours = %r\\n%s%s' % (ours, inspect.getsource(identity), look)
print(len(ours)); exec(look)
subprocess.run([sys.executable, '-c', code], close_fds=False)
for i in range(2):
    if os.fork() == 0:
        exec(look)
        for n in range(200): print('child', i, n)
        sys.stdout.buffer.write(frame); sys.stdout.flush(); os._exit(0)
for i in range(2): os.wait()
print('end')`,
      { id: 'victim' },
    );
    expect(run.error?.traceback).toBeUndefined();
    expect(run.frames('done')).toHaveLength(1);
    expect(run.text().endsWith('end\n')).toBe(true);
    expect(run.text()).toContain('2\n');
    expect(run.everything.match(/found \d/g)).toEqual(['found 2', 'found 0', 'found 0', 'found 0']);
    expect(run.everything.match(/child \d \d+\n/g)).toHaveLength(400);
  });

  it('a signal handler that prints or raises in the middle of a flood breaks no frame', async () => {
    const run = await runner.run(`import signal, time
class Enough(Exception): pass
def ring(*_):
    global rings
    rings += 1; print('ring')
    if rings == 301: raise Enough
rings = 0; old = signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
lines = 0
try:
    while True: print('x' * 1000); lines += 1
except Enough: pass
finally: signal.setitimer(signal.ITIMER_REAL, 0); signal.signal(signal.SIGALRM, old)
print('rung', rings)
signal.getsignal(signal.SIGALRM) == old`);
    expect(run.error?.traceback).toBeUndefined();
    expect(run.result).toBe('True');
    const rung = Number(/rung (\d+)/.exec(run.text())?.[1]);
    expect(rung).toBeGreaterThan(300);
    expect(run.text().match(/ring/g)).toHaveLength(rung);
  });
});

describe('output at the edge', () => {
  it('a recursion that prints to its very end loses and doubles no line', async () => {
    const run = await runner.run('def f(n):\n    print(n); f(n + 1)\nf(0)');
    expect(run.error?.name).toBe('RecursionError');
    await runner.run('1');
    const text = runner.heard.flatMap((item) =>
      item.op === 'stream' && item.run === run.done.run ? [item.text] : [],
    );
    const lines = text.join('').trimEnd().split('\n');
    expect(lines).toEqual(lines.map((_, index) => String(index)));
    expect(lines.length).toBeGreaterThan(500);
  });

  it('a child that never stops printing does not hold up the session', async () => {
    const own = await RunnerProcess.start({ keep: (item) => item.op !== 'bytes' });
    const run = await own.run(`import subprocess, time
child = subprocess.Popen(['yes']); started = time.monotonic()
for i in range(200): print(i)
time.monotonic() - started < 5`);
    await own.run('child.kill(); child.wait()');
    await own.stop();
    expect(run.result).toBe('True');
    expect(run.text().endsWith('199\n')).toBe(true);
  });
});

describe('which run output belongs to', () => {
  it('vscode-jupyter 10864, 17194: a thread’s lines carry the run that started it, and none is lost', async () => {
    const first = await runner.run(`import threading
go = threading.Event(); gone = threading.Event()
def talk():
    for i in range(20): print('line', i)
    go.wait(); 
    for i in range(20, 40): print('line', i)
    gone.set()
threading.Thread(target=talk).start()`);
    const second = await runner.run("go.set(); gone.wait(); print('mine')");
    expect(second.text()).toBe('mine\n');
    await runner.printed(first.done.run, 'line 39\n');
    const lines = runner.heard.flatMap((item) =>
      item.op === 'stream' && item.run === first.done.run ? [item.text] : [],
    );
    expect(lines.join('').match(/line \d+\n/g)).toHaveLength(40);
  });

  it('what comes after the run’s end keeps its id', async () => {
    const run = await runner.run(
      "import threading\nt = threading.Timer(0.05, print, ['late']); t.start()",
    );
    expect(run.text()).toBe('');
    await runner.printed(run.done.run, 'late\n');
  });

  it('jobs of a shared executor and asyncio tasks belong to the run that made them', async () => {
    const first = await runner.run(`from concurrent.futures import ThreadPoolExecutor
import asyncio
pool = ThreadPoolExecutor(1); pool.submit(print, 'one').result()
async def wait_and_print(): await gate.wait(); print('task of one'); 
gate = asyncio.Event(); task = asyncio.ensure_future(wait_and_print()); await asyncio.sleep(0)`);
    const second = await runner.run(`pool.submit(print, 'two').result()
gate.set(); await task
await asyncio.get_running_loop().run_in_executor(pool, print, 'loop two')`);
    expect(first.text()).toBe('one\n');
    expect(second.text()).toBe('two\nloop two\n');
    await runner.printed(first.done.run, 'task of one\n');
  });

  it('a raw thread’s error is told on stderr of its run', async () => {
    const run = await runner.run(`import threading
def fail(): raise ValueError('in a thread')
t = threading.Thread(target=fail); t.start(); t.join()`);
    expect(run.text('stderr')).toContain('ValueError: in a thread');
    expect(run.text('stderr')).not.toContain('runner.py');
  });
});
