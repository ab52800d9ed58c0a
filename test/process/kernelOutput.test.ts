import { expect, test } from 'vitest';
import type { KernelOutput } from '../../src/kernel/output';
import { hostingForTest, run, startPython } from './support/hosting';
import { residentMebibytes } from './support/processes';

/** Lines and bytes of a whole stream, what was left out included. */
function totals(outputs: readonly KernelOutput[]): { lines: number; bytes: number } {
  let [lines, bytes] = [0, 0];
  for (const output of outputs) {
    if (output.type === 'gap') {
      lines += output.lines;
      bytes += output.bytes;
    } else if (output.type === 'stream') {
      lines += output.text.split('\n').length - 1;
      bytes += Buffer.byteLength(output.text);
    }
  }
  return { lines, bytes };
}

const million = { lines: 1_000_000, bytes: 6_888_890 };

test('a million printed lines: totals exact, the tail there, the host’s memory bounded (vscode-jupyter 7048)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const host = hosting.hostPid ?? 0;
  const before = residentMebibytes(host).now;
  const flood = run(kernel, 'for i in range(1_000_000): print(i)');
  expect(await flood.reply).toMatchObject({ status: 'ok' });
  expect(totals(flood.outputs)).toEqual(million);
  expect(flood.text().endsWith('999998\n999999\n')).toBe(true);
  expect(residentMebibytes(host).highest - before).toBeLessThan(120);
});

test('a client that stops taking output does not hold up the kernel; what it misses is counted', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const host = hosting.hostPid ?? 0;
  const flood = run(
    kernel,
    `
import time
start = time.monotonic()
line = 'x' * 99
for i in range(600_000): print(line)
print('took', time.monotonic() - start < 30)
`,
  );
  await flood.saw('x');
  // Nothing is read from the socket while this turn lasts: 60 MB come meanwhile.
  const until = Date.now() + 6_000;
  while (Date.now() < until);
  expect(residentMebibytes(host).highest).toBeLessThan(250);
  expect(await flood.reply).toMatchObject({ status: 'ok' });
  expect(flood.text().endsWith('took True\n')).toBe(true);
  expect(flood.outputs.some(({ type }) => type === 'gap')).toBe(true);
  expect(totals(flood.outputs)).toEqual({ lines: 600_001, bytes: 60_000_010 });
});

test('what Python prints and what its subprocesses print comes in the order of writing', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const mixed = run(
    kernel,
    `
import os, subprocess
for i in range(20):
    print('python', i)
    subprocess.run(['echo', f'child {i}'])
    os.write(1, f'raw {i}\\n'.encode())
`,
  );
  await mixed.reply;
  const expected = Array.from({ length: 20 }, (_, i) => `python ${i}\nchild ${i}\nraw ${i}\n`);
  expect(mixed.text()).toBe(expected.join(''));
});

test('what was written on descriptors 1 and 2 last is there before the reply', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  for (let round = 0; round < 20; round += 1) {
    const raw = run(
      kernel,
      'import os\n_ = os.write(1, b"out" * 9000), os.write(2, b"err" * 9000)',
    );
    await raw.reply;
    expect([raw.text('stdout').length, raw.text('stderr').length]).toEqual([27_000, 27_000]);
  }
});

test('a character that is split over two writes stays one', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const split = run(
    kernel,
    'import os, time\nfor part in (b"\\xe6\\x97", b"\\xa5\\xe6", b"\\x9c\\xac\\xff"):\n  _ = os.write(1, part); time.sleep(0.05)',
  );
  await split.reply;
  expect(split.text()).toBe('日本\ufffd');
});

test('a thread that prints on after its run is heard, as output of that run (vscode-jupyter 10864)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  let late = '';
  const all = new Promise<void>((resolve) => {
    kernel.onDidLateOutput(({ executionId, output }) => {
      if (executionId === 'thread' && output.type === 'stream') late += output.text;
      if (late.includes('line 19\n')) resolve();
    });
  });
  const starts = run(
    kernel,
    `
import threading, time
def talk():
    for i in range(20):
        time.sleep(0.05)
        print('line', i)
threading.Thread(target=talk).start()
`,
    { executionId: 'thread' },
  );
  await starts.reply;
  const meanwhile = run(kernel, 'time.sleep(0.3)\nprint("meanwhile")');
  await meanwhile.reply;
  await all;
  expect(starts.text() + late).toBe(Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join(''));
  expect(meanwhile.text()).toBe('meanwhile\n');
});

test('lone surrogates and every other text survive the way', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const odd = run(kernel, 'print("\\ud800 é 日本 \\U0001f600 \\x00 \\x1b[31m")');
  await odd.reply;
  expect(odd.text()).toBe('\ud800 é 日本 \u{1f600} \0 \x1b[31m\n');
});
