import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hostingForTest, run, startPython } from './support/hosting';

test('a kernel starts, runs code, keeps its variables and stops well under 100 ms', async () => {
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

  const before = performance.now();
  expect(await kernel.shutdown({ timeoutMs: 2_000 })).toEqual({ confirmed: true });
  expect(performance.now() - before).toBeLessThan(100);
  expect(kernel.isAlive()).toBe(false);

  await hosting.leave();
  expect(readdirSync(runtimeDir)).toEqual([]);
});
