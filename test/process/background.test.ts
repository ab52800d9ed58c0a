import { promises as fs } from 'node:fs';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { deferred } from '../../src/base/deferred';
import { silentLog } from '../../src/base/log';
import {
  createKernelHosting,
  discoverHosts,
  hostToTakeUp,
  type FoundHost,
  type KernelHosting,
} from '../../src/hosting';
import { KERNEL_LIMITS, STOP_DEADLINES } from '../../src/kernel/limits';
import { asOutput } from '../../src/kernel/output';
import { createAdmission } from '../../src/runner/admission';
import { createBackgroundRuns } from '../../src/runner/background';
import type { BackgroundSnapshot } from '../../src/runner/backgroundTypes';
import type { Lease } from '../../src/runner/lease';
import { backgroundKernelOf } from '../../src/runner/pooledBackground';
import { until } from '../support/until';
import { backgroundWindow, type BackgroundWindow } from './support/background';
import {
  hostingForTest,
  runnersDir,
  startPython,
  temporaryFolder,
  type FullKernel,
} from './support/hosting';
import { alive, endAfterTest, expectGone } from './support/processes';

const training = `
import time
for epoch in range(200):
    print("epoch", epoch, flush=True)
    time.sleep(0.05)
`;
const deaf = `
import signal, time, os
print(os.getpid(), flush=True)
while True:
    try:
        time.sleep(0.05)
    except KeyboardInterrupt:
        pass
`;

/** Says its process id, and ends once the file is there. */
const waitingFor = (file: string): string => `
import os, time
print(os.getpid(), flush=True)
while not os.path.exists(${JSON.stringify(file)}): time.sleep(0.05)
`;

const lines = (text: string): string[] =>
  text.split('\n').filter((line) => line.startsWith('epoch'));
const epochs = (count: number): string[] => Array.from({ length: count }, (_, at) => `epoch ${at}`);

test('a run says what it prints while it goes on, and keeps it after its end: in the panel, on disk and as a record', async () => {
  const { hosting } = hostingForTest();
  const window = backgroundWindow(hosting, temporaryFolder());
  const id = await window.launch('print("one")\nprint("two")\n6 * 7');
  const end = await window.until(id, ({ done }) => done);
  expect(end).toMatchObject({ status: 'done', stdout: 'one\ntwo\n42\n', error: undefined });
  expect(window.shown(id)).toBe('one\ntwo\n<display>');
  expect(window.records).toMatchObject([{ exitCode: 0, output: 'one\ntwo\n42\n' }]);
  const file = end.artifact ?? '';
  expect(await fs.readFile(file, 'utf8')).toBe('one\ntwo\n42\n');
  expect((await fs.stat(file)).mode & 0o777).toBe(0o600);
  expect(window.failures).toEqual([]);
});

test('a training loop is interrupted: delivered, heeded, over, and its kernel is gone', async () => {
  const { hosting } = hostingForTest();
  const window = backgroundWindow(hosting, temporaryFolder());
  const id = await window.launch(`import os\nprint("pid", os.getpid())\n${training}`);
  const run = await window.until(id, ({ stdout }) => stdout.includes('epoch 3'));
  const pid = Number(/pid (\d+)/.exec(run.stdout)?.[1]);
  const report = await window.here.interrupt(id);
  expect(report).toMatchObject({ status: 'interrupted', done: true, interrupted: true });
  expect(report?.interruptUndelivered).toBeUndefined();
  expect(report?.error).toBeUndefined();
  await expectGone([pid], 2_000);
  // Of one that is over it is just the snapshot.
  const again = await window.here.interrupt(id);
  expect(again).toEqual(window.here.find(id));
  expect(window.records).toMatchObject([{ cancelled: true, exitCode: undefined }]);
});

test('a run that swallows interrupts: the report says that it goes on, a kill ends it', async () => {
  const { hosting } = hostingForTest();
  const window = backgroundWindow(hosting, temporaryFolder());
  const id = await window.launch(deaf);
  const { stdout } = await window.until(id, (run) => run.stdout.endsWith('\n'));
  const report = await window.here.interrupt(id);
  expect(report).toMatchObject({ status: 'running', done: false });
  expect(report?.interruptUndelivered).toBeUndefined();
  expect(window.here.isUnheeded(id)).toBe(true);
  expect(await window.here.kill(id)).toMatchObject({ status: 'failed', killed: true });
  await expectGone([Number(stdout)], 2_000);
});

test('hung run, and its owner goes: interrupted, killed, gone; runs of others stay', async () => {
  const { hosting } = hostingForTest();
  const window = backgroundWindow(hosting, temporaryFolder());
  const [hung, other] = await Promise.all([
    window.launch(deaf, { ownerId: 'chat:1' }),
    window.launch(training),
  ]);
  const { stdout } = await window.until(hung, (run) => run.stdout.endsWith('\n'));
  await window.here.disposeOwner('chat:1');
  expect(window.here.find(hung)).toMatchObject({ status: 'failed' });
  expect(window.here.find(other)).toMatchObject({ status: 'running' });
  await expectGone([Number(stdout)], 2_000);
  await window.here.kill(other);
});

test('hung run, shutdown with 10 ms per run: killed, failed, gone, and the next launch is refused as closed', async () => {
  const { hosting } = hostingForTest();
  let printed: (text: string) => void = () => undefined;
  const pid = new Promise<number>((resolve) => (printed = (text) => resolve(Number(text))));
  const runs = createBackgroundRuns({
    startKernel: async ({ request }) => {
      const kernel = backgroundKernelOf(await startPython(hosting), request.executionId);
      return {
        ...kernel,
        execute: (code, { onOutput }) =>
          kernel.execute(code, {
            onOutput: (output) => {
              onOutput(output);
              const piece = asOutput(output);
              if (piece.type === 'stream') printed(piece.text);
            },
          }),
      };
    },
  });
  const { executionId } = await runs.launch(deaf);
  const hung = await pid;
  expect(await runs.shutdown({ timeoutPerRunMs: 10 })).toBe(1);
  await expect(runs.launch('1')).rejects.toMatchObject({ code: 'closed' });
  await expectGone([hung], 5_000);
  await until(() => runs.peek(executionId).done, 5_000);
  expect(runs.peek(executionId)).toMatchObject({ status: 'failed', killed: true });
});

test('an interpreter that is not there: the error is passed on, and nothing is listed or kept', async () => {
  const { hosting } = hostingForTest();
  const window = backgroundWindow(hosting, temporaryFolder());
  await expect(window.launch('1', { interpreter: '/nowhere/python' })).rejects.toMatchObject({
    name: 'HoldfastError',
  });
  expect(window.here.list()).toEqual([]);
  const id = await window.launch('1');
  expect(await window.until(id, ({ done }) => done)).toMatchObject({ status: 'done' });
});

test('a kernel that dies in the middle: failed, with the output until then and a word of how it died', async () => {
  const { hosting } = hostingForTest();
  const window = backgroundWindow(hosting, temporaryFolder());
  const id = await window.launch(
    'import os, signal\nprint("before", flush=True)\nos.kill(os.getpid(), signal.SIGKILL)',
  );
  const end = await window.until(id, ({ done }) => done);
  expect(end).toMatchObject({ status: 'failed', stdout: 'before\n', interrupted: false });
  expect(end.error).toBe('background execution failed');
  expect(window.records[0]?.output).toContain('SIGKILL');
});

test('code that fails: its traceback is the error, and other runs go on', async () => {
  const { hosting } = hostingForTest();
  const window = backgroundWindow(hosting, temporaryFolder());
  const id = await window.launch('print("x")\n1 / 0');
  const end = await window.until(id, ({ done }) => done);
  expect(end.status).toBe('failed');
  expect(end.error).toContain('ZeroDivisionError');
  expect(await fs.readFile(end.artifact ?? '', 'utf8')).toContain('ZeroDivisionError');
});

test('an interrupt that does not arrive: the report says why, and claims nothing', async () => {
  const { hosting } = hostingForTest();
  const window = backgroundWindow(hosting, temporaryFolder());
  const id = await window.launch(training);
  await window.until(id, ({ stdout }) => stdout.includes('epoch 1'));
  const host = hosting.hostPid ?? 0;
  endAfterTest(host);
  process.kill(host, 'SIGSTOP');
  const report = await window.here.interrupt(id);
  expect(report).toMatchObject({ status: 'running', done: false, interrupted: false });
  expect(report?.interruptUndelivered).toMatch(/./);
  process.kill(host, 'SIGCONT');
  expect(await window.here.kill(id)).toMatchObject({ done: true });
});

test('code that raises KeyboardInterrupt itself: over, its slot and its lease are free, the next one runs', async () => {
  const { hosting } = hostingForTest();
  const admission = createAdmission({ captureEnabled: true });
  const enterLease = (): Promise<Lease> => admission.background();
  const window = backgroundWindow(hosting, temporaryFolder(), { enterLease });
  const id = await window.launch('print("x")\nraise KeyboardInterrupt');
  expect(await window.until(id, ({ done }) => done)).toMatchObject({ stdout: 'x\n' });
  expect(await admission.capture(() => Promise.resolve('free'))).toBe('free');
  const next = await window.launch('1');
  expect(await window.until(next, ({ done }) => done)).toMatchObject({ status: 'done' });
});

test('its lease is held from before its kernel until its kernel is gone: meanwhile neither capture nor edit is admitted', async () => {
  const { hosting } = hostingForTest();
  const admission = createAdmission({ captureEnabled: true });
  const enterLease = (): Promise<Lease> => admission.background();
  const window = backgroundWindow(hosting, temporaryFolder(), { enterLease });
  const nothing = (): Promise<string> => Promise.resolve('admitted');
  const others = [() => admission.capture(nothing), () => admission.externalMutation(nothing)];
  const goOn = path.join(temporaryFolder(), 'go-on');
  const launched = window.launch(waitingFor(goOn));
  for (const other of others) await expect(other()).rejects.toMatchObject({ code: 'capture_busy' });
  const id = await launched;
  const { stdout } = await window.until(id, (run) => run.stdout.endsWith('\n'));
  for (const other of others) await expect(other()).rejects.toMatchObject({ code: 'capture_busy' });
  await fs.writeFile(goOn, '');
  await window.until(id, ({ done }) => done);
  expect(alive(Number(stdout))).toBe(false);
  for (const other of others) expect(await other()).toBe('admitted');
});

test('a malformed lease, and a lease that is refused: no process is made', async () => {
  const { hosting } = hostingForTest();
  for (const enterLease of [
    () => ({ release: 1 }) as unknown as Lease,
    () => Promise.reject(new Error('busy')),
  ]) {
    const window = backgroundWindow(hosting, temporaryFolder(), { enterLease });
    await expect(window.launch('1')).rejects.toThrow();
    expect(window.here.list()).toEqual([]);
  }
  expect(hosting.hostPid).toBeUndefined();
});

test('a launch that fails when its kernel is there: that kernel is gone, nothing is listed, slot and lease are free', async () => {
  const { hosting } = hostingForTest();
  const kernels: FullKernel[] = [];
  let leases = 0;
  let fails = true;
  const runs = createBackgroundRuns({
    startKernel: async ({ request }) => {
      kernels.push(await startPython(hosting));
      return backgroundKernelOf(kernels.at(-1)!, request.executionId);
    },
    enterLease: () => {
      leases += 1;
      return { release: () => void (leases -= 1) };
    },
    onRecord: (_id, record) => {
      if (fails && record?.phase === 'running') throw new Error('not recorded');
    },
    maxRunning: 1,
  });
  await expect(runs.launch('1')).rejects.toThrow('not recorded');
  expect(kernels[0]?.isAlive()).toBe(false);
  await expectGone([kernels[0]?.pid ?? 0], 2_000);
  expect([runs.list(), leases]).toEqual([[], 0]);
  fails = false;
  const { executionId } = await runs.launch('1');
  await until(() => runs.peek(executionId).done, 10_000);
  expect([runs.peek(executionId).status, leases]).toEqual(['done', 0]);
});

test('there are so many slots, each free when its kernel is gone', async () => {
  const { hosting } = hostingForTest();
  const runs = createBackgroundRuns({
    startKernel: async ({ request }) =>
      backgroundKernelOf(await startPython(hosting), request.executionId),
    maxRunning: 2,
  });
  const launches = await Promise.allSettled([1, 2, 3].map(() => runs.launch(training)));
  expect(launches.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  const [first] = runs.list();
  expect(await runs.kill(first?.executionId ?? '')).toMatchObject({ done: true });
  await runs.launch('1');
  expect(await runs.shutdown()).toBeGreaterThan(0);
  expect(runs.list().every(({ done }) => done)).toBe(true);
});

test('its code is over but its kernel does not leave: still running; shutdown interrupts and kills, then it is done', async () => {
  const { hosting } = hostingForTest();
  const stop = { ...STOP_DEADLINES, askIdle: 60_000 };
  hosting.setLimits({ ...KERNEL_LIMITS, stop });
  const cleaning = deferred<void>();
  const runs = createBackgroundRuns({
    startKernel: async ({ request }) =>
      backgroundKernelOf(await startPython(hosting), request.executionId),
  });
  runs.onDidChange(({ executionId }) => {
    if (runs.peek(executionId).phase === 'cleaningUp') cleaning.resolve();
  });
  const { executionId } = await runs.launch(`
import atexit, os, time
print(os.getpid(), flush=True)
def stay():
    while True:
        try: time.sleep(0.05)
        except KeyboardInterrupt: pass
_ = atexit.register(stay)
`);
  await cleaning.promise;
  const blocked = runs.peek(executionId);
  expect(blocked).toMatchObject({ status: 'running', done: false, endedAt: undefined });
  expect(alive(Number(blocked.stdout))).toBe(true);
  expect(await runs.shutdown({ timeoutPerRunMs: 10 })).toBe(1);
  await until(() => runs.peek(executionId).done, 5_000);
  expect(runs.peek(executionId)).toMatchObject({ status: 'done', killed: true });
  await expectGone([Number(blocked.stdout)], 2_000);
});

/** A window with runs, and how it reloads. */
async function reloading(): Promise<{
  before: BackgroundWindow;
  reload: () => Promise<{ after: BackgroundWindow; over: readonly BackgroundSnapshot[] }>;
}> {
  const runtimeDir = temporaryFolder();
  const folder = temporaryFolder();
  const hostScript = inject('kernelHostScript');
  const make = (): KernelHosting => {
    const hosting = createKernelHosting({
      ...{ hostScript, runnersDir, runtimeDir, workspace: 'test', log: silentLog },
      graceMs: 20_000,
    });
    onTestFinished(async () => {
      hosting.setGrace(0);
      await hosting.leave();
    });
    return hosting;
  };
  const first = make();
  first.keep('window', 'window:before');
  const before = backgroundWindow(first, folder, { ownerId: 'window:before' });
  const reload = async () => {
    before.here.leave();
    await first.leave();
    const second = make();
    let found: FoundHost | undefined;
    await until(async () => {
      found = hostToTakeUp(await discoverHosts({ workspace: 'test', runtimeDir, log: silentLog }));
      return found !== undefined;
    }, 5_000);
    const adoption = await second.adopt(found!);
    const after = backgroundWindow(second, folder, { ownerId: 'window:after' });
    const { places, over } = await after.here.takeUp(adoption);
    adoption.stopOthers(places);
    return { after, over };
  };
  return { before, reload };
}

test('over a reload: status, elapsed time, head, tab and file go on without a gap or a double', async () => {
  const { before, reload } = await reloading();
  const quick = await before.launch('print("quick")', { ownerId: 'window:before' });
  await before.until(quick, ({ done }) => done);
  const id = await before.launch(training, { ownerId: 'window:before', label: 'Train' });
  const { startedAt } = await before.until(id, ({ stdout }) => stdout.includes('epoch 10'));
  const { after, over } = await reload();
  expect(over).toMatchObject([
    { executionId: quick, status: 'done', stdout: 'quick\n', request: { ownerId: 'window:after' } },
  ]);
  expect(after.here.find(id)).toMatchObject({
    status: 'running',
    startedAt,
    request: { label: 'Train', ownerId: 'window:after' },
  });
  const end = await after.until(id, ({ done }) => done);
  expect(end).toMatchObject({ status: 'done' });
  expect(lines(end.stdout)).toEqual(epochs(200));
  expect(lines(after.shown(id))).toEqual(epochs(200));
  expect(lines(await fs.readFile(end.artifact ?? '', 'utf8'))).toEqual(epochs(200));
  expect(after.failures).toEqual([]);
});

test('over a reload that the kernel host has kept only the end of: the file has all, and the head is of the file', async () => {
  const { before, reload } = await reloading();
  const goOn = path.join(temporaryFolder(), 'go-on');
  // More than the kernel host keeps for a next window, and less than what it holds for this one.
  const id = await before.launch(`
import os, time
for epoch in range(300000): print("epoch", epoch)
while not os.path.exists(${JSON.stringify(goOn)}): time.sleep(0.05)
print("epoch 300000")
`);
  const { artifact = '' } = await before.until(id, ({ stdout }) => stdout.endsWith('out here.]\n'));
  await until(async () => (await fs.readFile(artifact, 'utf8')).endsWith('epoch 299999\n'), 20_000);
  const { after } = await reload();
  await fs.writeFile(goOn, '');
  const end = await after.until(id, ({ done }) => done);
  expect(end).toMatchObject({ status: 'done', artifact });
  const all = lines(await fs.readFile(artifact, 'utf8'));
  expect(all).toHaveLength(300_001);
  expect(all.findIndex((line, at) => line !== `epoch ${at}`)).toBe(-1);
  expect(end.stdout.slice(0, 1_000_000)).toBe(all.join('\n').slice(0, 1_000_000));
  expect(lines(after.shown(id)).slice(0, 100)).toEqual(epochs(100));
});
