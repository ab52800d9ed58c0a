import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KERNEL_LIMITS } from '../../src/kernel/limits';
import type { StopProgress } from '../../src/kernel/kernel';
import { createKernelPool } from '../../src/pool/pool';
import type { ExecutionResult, KernelPool, SessionSnapshot } from '../../src/pool/types';
import { hostingForTest, run, startPython, temporaryFolder } from './support/hosting';
import { alive } from './support/processes';

interface World {
  readonly pool: KernelPool;
  /** Runs code in the one session, as a person does. Resolves when it has printed, and to how it ends. */
  begin(code: string, timeoutMs?: number): Promise<{ readonly end: Promise<ExecutionResult> }>;
  session(): SessionSnapshot;
  /** Resolves when the session is so. */
  when(isSo: (session: SessionSnapshot) => boolean): Promise<void>;
}

async function world(): Promise<World> {
  const { hosting } = hostingForTest();
  const pool = createKernelPool({
    startKernel: ({ signal }) => startPython(hosting, { signal }),
  });
  const session = (): SessionSnapshot => {
    const [first] = pool.sessions();
    if (first === undefined) throw new Error('there is no session');
    return first;
  };
  return {
    pool,
    session,
    begin: (code, timeoutMs) =>
      new Promise((resolve) => {
        const end = pool.execute(code, {
          cwd: '/tmp',
          ownerId: 'window',
          origin: 'person',
          ...(timeoutMs !== undefined && { timeoutMs }),
          onOutput: () => resolve({ end }),
        });
      }),
    when: (isSo) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!pool.sessions().some(isSo)) return;
          subscription.dispose();
          resolve();
        };
        const subscription = pool.onDidChangeSessions(look);
        look();
      }),
  };
}

const isUnheeded = ({ state }: SessionSnapshot): boolean =>
  state.kind === 'busy' && state.execution.unheeded === true;

const swallows = `
def spin():
    while True: id(0)
n = 0
print("on", flush=True)
while True:
    try:
        spin()
    except KeyboardInterrupt:
        n += 1
        print("swallowed", n, flush=True)
`;

test('a loop that swallows interrupts: each is really sent, not heeding is told, and the kill works (vscode-jupyter 2158)', async () => {
  const { pool, begin, session, when } = await world();
  const { end } = await begin(swallows);
  const { id, pid } = session();
  const sent = { delivered: true, target: `process group ${pid}` };
  expect(await pool.interrupt(id)).toEqual(sent);
  await when(isUnheeded);
  expect(await pool.interrupt(id)).toEqual(sent);
  await when(isUnheeded);
  expect(await pool.kill(id)).toEqual({ confirmed: true });
  const { output, cancelled } = await end;
  expect(cancelled).toBe(true);
  expect(output).toContain('swallowed 1\nswallowed 2\n');
  expect(alive(pid ?? 0)).toBe(false);
});

test('a suspended kernel heeds nothing: told as not responding and as not heeding, and the kill works', async () => {
  const { pool, begin, session, when } = await world();
  const { end } = await begin('print("on", flush=True)\nwhile True: id(0)');
  const { id, pid = 0 } = session();
  process.kill(pid, 'SIGSTOP');
  onTestFinished(() => void (alive(pid) && process.kill(pid, 'SIGCONT')));
  expect(await pool.interrupt(id)).toMatchObject({ delivered: true });
  await when((each) => isUnheeded(each) && each.silence?.of === 'kernel');
  expect(session().state.kind).toBe('busy');
  expect(await pool.kill(id)).toEqual({ confirmed: true });
  expect(await end).toMatchObject({ cancelled: true });
  expect(alive(pid)).toBe(false);
});

test('a suspended kernel that does nothing is shown as such in its session, until it answers again', async () => {
  const { begin, session, when } = await world();
  await (
    await begin('print("on", flush=True)')
  ).end;
  const { pid = 0 } = session();
  process.kill(pid, 'SIGSTOP');
  onTestFinished(() => void (alive(pid) && process.kill(pid, 'SIGCONT')));
  await when(({ silence }) => silence !== undefined);
  expect(session().state.kind).toBe('idle');
  process.kill(pid, 'SIGCONT');
  await when(({ silence }) => silence === undefined);
});

test('a runner that cannot be interrupted: says so, and what is left to do works (calva 2961)', async () => {
  const { pool, begin, session, when } = await world();
  const deaf =
    'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint("on", flush=True)\nwhile True: id(0)';
  const { end } = await begin(deaf);
  const { id } = session();
  expect(await pool.interrupt(id, 'another run')).toMatchObject({
    delivered: false,
    reason: expect.stringContaining('not the one that is running') as string,
  });
  await pool.interrupt(id);
  // What was sent is no claim that it was heeded: after 5 s it is known that it was not.
  expect(isUnheeded(session())).toBe(false);
  await when(isUnheeded);
  expect(await pool.kill(id)).toEqual({ confirmed: true });
  expect(await end).toMatchObject({ cancelled: true });
});

test('a hung run with a limit ahead of others: interrupted at its limit, and the queue goes on (prime-agent 2290)', async () => {
  const { pool, begin, session } = await world();
  const options = { cwd: '/tmp', ownerId: 'window' };
  // The start of the kernel is not on the account of the limit.
  await pool.execute('x = 41', options);
  const { end } = await begin('print("on", flush=True)\nwhile True: id(0)', 1_500);
  const { pid } = session();
  const queued = ['x += 1', 'print(x)'].map((code) => pool.execute(code, options));
  expect(await end).toMatchObject({ cancelled: true, exitCode: undefined });
  const [first, second] = await Promise.all(queued);
  expect(first).toMatchObject({ exitCode: 0 });
  expect(second).toMatchObject({ exitCode: 0, output: '42\n' });
  expect(session().pid).toBe(pid);
});

test('a variable whose __repr__ sleeps holds up nothing that looks at the session: 1 answers at once (vscode-jupyter 17271)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  await run(
    kernel,
    'import time\nclass Slow:\n  def __repr__(self): time.sleep(30)\nslow = Slow()\nmany = [slow] * 9',
  ).reply;
  const looking = Promise.all([kernel.memory(), kernel.memory()]);
  const before = Date.now();
  expect(await run(kernel, '1').reply).toMatchObject({ status: 'ok' });
  expect(Date.now() - before).toBeLessThan(2_000);
  await looking;
});

test('an interpreter that answers but never says that it is ready: a clear error at the deadline (vscode-jupyter 17481)', async () => {
  const { hosting } = hostingForTest();
  hosting.setLimits({ ...KERNEL_LIMITS, readyWithinMs: 1_500 });
  const interpreter = path.join(temporaryFolder(), 'chatty');
  writeFileSync(
    interpreter,
    `#!/usr/bin/env python3
import os, struct, sys
pong = b'{"op":"pong"}'
print("still loading my modules", file=sys.stderr, flush=True)
os.write(4, struct.pack(">I", len(pong)) + pong)
while os.read(3, 1 << 16):
    os.write(4, struct.pack(">I", len(pong)) + pong)
`,
  );
  chmodSync(interpreter, 0o755);
  const before = Date.now();
  await expect(startPython(hosting, { interpreter })).rejects.toMatchObject({
    code: 'start_timeout',
    message: expect.stringMatching(
      /chatty did not become ready within 1.5 s.*still loading my modules/s,
    ) as string,
  });
  expect(Date.now() - before).toBeLessThan(5_000);
});

test('the deadlines of a stop are those that were set last, for the next stop', async () => {
  const { hosting } = hostingForTest();
  const stop = {
    askIdle: 100,
    askBusy: 100,
    interrupt: 0,
    terminate: 150,
    kill: 2_000,
    sweep: 500,
  };
  const kernel = await startPython(hosting);
  const progress: StopProgress[] = [];
  kernel.onDidStopStep((step) => progress.push(step));
  const stubborn = run(
    kernel,
    'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint("on")\nwhile True: id(0)',
  );
  await stubborn.saw('on');
  hosting.setLimits({ ...KERNEL_LIMITS, stop });
  expect(await kernel.shutdown()).toEqual({ confirmed: true });
  const durations = progress.map(({ step, startedAt, deadline }) => [step, deadline - startedAt]);
  expect(durations.map(([step]) => step)).toEqual(['ask', 'terminate', 'kill', 'sweep']);
  expect(durations[0]?.[1]).toBeLessThanOrEqual(100);
  expect(durations[1]?.[1]).toBeLessThanOrEqual(150);
});
