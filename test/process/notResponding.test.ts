import { expect, onTestFinished, test } from 'vitest';
import type { Silence } from '../../src/kernel/kernel';
import type { KernelHosting } from '../../src/hosting';
import { hostingForTest, run, startPython, type FullKernel } from './support/hosting';
import { alive } from './support/processes';

/** Every change of a kernel's silence, as it was told. */
function silencesOf(kernel: FullKernel): (Silence | undefined)[] {
  const told: (Silence | undefined)[] = [];
  kernel.onDidChangeSilence(() => told.push(kernel.silence));
  return told;
}

/** Resolves when that is so; the test's own limit is the end of patience. */
function whenSilence(kernel: FullKernel, isSilent: boolean): Promise<Silence | undefined> {
  return new Promise((resolve) => {
    const look = (): void => {
      if ((kernel.silence !== undefined) !== isSilent) return;
      subscription.dispose();
      resolve(kernel.silence);
    };
    const subscription = kernel.onDidChangeSilence(look);
    look();
  });
}

function suspend(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  // A process that is gone by then has nothing to be woken for.
  onTestFinished(() => void (alive(pid) && process.kill(pid, 'SIGCONT')));
}

const hostOf = ({ hostPid }: KernelHosting): number => {
  if (hostPid === undefined) throw new Error('there is no host');
  return hostPid;
};

test('a suspended kernel is not responding within 10 s, not dead, and goes on when it is woken', async () => {
  const { hosting } = hostingForTest();
  const [kernel, other] = [await startPython(hosting), await startPython(hosting)];
  const others = silencesOf(other);
  await run(kernel, 'x = 41').reply;
  const before = Date.now();
  suspend(kernel.pid);
  const silence = await whenSilence(kernel, true);
  expect(Date.now() - before).toBeLessThan(10_000);
  expect(silence).toEqual({ since: expect.any(Number) as number, of: 'kernel' });
  expect(silence?.since).toBeGreaterThanOrEqual(before);
  expect(kernel.isAlive()).toBe(true);
  expect(kernel.exit).toBeUndefined();

  process.kill(kernel.pid, 'SIGCONT');
  await whenSilence(kernel, false);
  const next = run(kernel, 'print(x + 1)');
  await next.reply;
  expect(next.text()).toBe('42\n');
  expect(others).toEqual([]);
});

test('native code that holds the interpreter’s lock: not responding while it does; what only waits, floods or asks responds', async () => {
  const { hosting } = hostingForTest();
  const start = (): Promise<FullKernel> => startPython(hosting);
  const [holds, floods, asks, reprs] = [await start(), await start(), await start(), await start()];
  const told = [floods, asks, reprs].map(silencesOf);
  const holding = run(holds, 'import ctypes\nctypes.PyDLL(None).sleep(11)\n"done"');
  const until = 'import time\nend = time.monotonic() + 11\n';
  const flooding = run(floods, `${until}while time.monotonic() < end: print("line")`);
  const sleeping = run(
    reprs,
    'import time\nclass Slow:\n  def __repr__(self):\n    time.sleep(11)\n    return "slow"\nSlow()',
  );
  const asking = run(asks, 'input("? ")', {
    onInput: async () => {
      await Promise.all([holding.reply, flooding.reply, sleeping.reply]);
      return 'an answer';
    },
  });

  expect(await whenSilence(holds, true)).toMatchObject({ of: 'kernel' });
  expect(await holding.reply).toMatchObject({ status: 'ok' });
  await whenSilence(holds, false);
  expect(await flooding.reply).toMatchObject({ status: 'ok' });
  expect(await sleeping.reply).toMatchObject({ status: 'ok' });
  expect(await asking.reply).toMatchObject({ status: 'ok' });
  expect(told).toEqual([[], [], []]);
});

test('a suspended kernel host: none of its kernels is known to respond; awake again, all go on', async () => {
  const { hosting } = hostingForTest();
  const kernels = [await startPython(hosting), await startPython(hosting)];
  await run(kernels[0]!, 'x = 41').reply;
  suspend(hostOf(hosting));
  const silences = await Promise.all(kernels.map((kernel) => whenSilence(kernel, true)));
  expect(silences.map((silence) => silence?.of)).toEqual(['kernelHost', 'kernelHost']);
  expect(await kernels[0]!.interrupt()).toMatchObject({
    delivered: false,
    reason: expect.stringContaining('does not answer') as string,
  });

  process.kill(hostOf(hosting), 'SIGCONT');
  await Promise.all(kernels.map((kernel) => whenSilence(kernel, false)));
  const next = run(kernels[0]!, 'print(x + 1)');
  await next.reply;
  expect(next.text()).toBe('42\n');
});

test('a kernel whose host is suspended can be killed all the same', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const stuck = run(kernel, 'print("on")\nwhile True: id(0)');
  await stuck.saw('on');
  suspend(hostOf(hosting));
  await whenSilence(kernel, true);
  const before = Date.now();
  expect(await kernel.kill()).toEqual({ confirmed: true });
  expect(Date.now() - before).toBeLessThan(4_000);
  expect(alive(kernel.pid)).toBe(false);
  expect(kernel.exit?.summary).toContain('the kernel host did not answer');
  process.kill(hostOf(hosting), 'SIGCONT');
  expect(await stuck.reply).toMatchObject({ cancelled: true });
});

test('everything sleeps for 12 s, as when a lid is closed: nothing is dead, and nothing was silent (positron 6660)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const told = silencesOf(kernel);
  const going = run(
    kernel,
    'import time\nfor i in range(100): print(i, flush=True); time.sleep(0.1)',
  );
  await going.saw('10\n');
  const asleep = [hostOf(hosting), kernel.pid];
  asleep.forEach(suspend);
  // This process stands for the window, which sleeps too: none of its timers runs.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12_000);
  for (const pid of asleep.reverse()) process.kill(pid, 'SIGCONT');

  expect(await going.reply).toMatchObject({ status: 'ok' });
  expect(going.text()).toBe(Array.from({ length: 100 }, (_, i) => `${i}\n`).join(''));
  expect(told).toEqual([]);
  expect(hosting.hostPid).toBe(asleep[1]);
});
