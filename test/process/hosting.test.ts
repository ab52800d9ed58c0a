import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hostingForTest, run, startPython } from './support/hosting';

test('a kernel starts, runs code, keeps its variables and leaves when asked, without a signal', async () => {
  const { hosting, runtimeDir } = hostingForTest();
  const kernel = await startPython(hosting);
  expect(kernel.description).toMatch(/^Python 3\.\d+\.\d+ \(.*\)$/);

  const first = run(kernel, 'x = 20\nprint("hello")');
  expect(await first.reply).toEqual({
    status: 'ok',
    cancelled: false,
    timedOut: false,
    stdinRequested: false,
  });
  expect(first.text()).toBe('hello\n');
  const second = run(kernel, 'x + 1');
  await second.reply;
  expect(second.outputs).toMatchObject([{ type: 'result', data: { 'text/plain': '21' } }]);

  const steps: string[] = [];
  kernel.onDidStopStep(({ step }) => steps.push(step));
  expect(await kernel.shutdown({ timeoutMs: 2_000 })).toEqual({ confirmed: true });
  expect(steps).toEqual(['ask', 'sweep']);
  expect(kernel.exit).toMatchObject({ code: 0, signal: null });
  expect(kernel.isAlive()).toBe(false);

  await hosting.leave();
  expect(readdirSync(runtimeDir)).toEqual([]);
});

test('leaving stops every kernel, and each says that it was stopped', async () => {
  const { hosting } = hostingForTest();
  const kernels = await Promise.all([startPython(hosting), startPython(hosting)]);
  const busy = run(kernels[0], 'print("on")\nwhile True: id(0)');
  await busy.saw('on');
  await hosting.leave();
  expect(await busy.reply).toMatchObject({ cancelled: true });
  expect(kernels.map(({ exit }) => exit?.summary)).toEqual(
    Array(2).fill('The kernel was stopped.'),
  );
  await expect(startPython(hosting)).rejects.toMatchObject({ code: 'closed' });
});

test('a listener that throws loses no output of others and no connection', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const throws = kernel.execute('print(1)', {
    executionId: 'throws',
    signal: new AbortController().signal,
    onOutput() {
      throw new Error('not today');
    },
  });
  expect(await throws).toMatchObject({ status: 'ok' });
  const next = run(kernel, 'print(2)');
  await next.reply;
  expect(next.text()).toBe('2\n');
});

test('memory counts the kernel and the children of its code', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const alone = (await kernel.memory()) ?? 0;
  expect(alone).toBeGreaterThan(4 * 1024 * 1024);
  const grow = `
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', 'x = bytearray(50_000_000); print(1, flush=True); input()'],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
`;
  await run(kernel, grow).reply;
  expect(((await kernel.memory()) ?? 0) - alone).toBeGreaterThan(50_000_000);
});
