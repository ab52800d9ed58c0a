import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hostingForTest, run, startPython } from './support/hosting';

test('a kernel starts, runs code, keeps its variables and leaves when asked, without a signal', async () => {
  const { hosting, runtimeDir } = await hostingForTest();
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
