import { expect, test } from 'vitest';
import { hostingForTest, run, startPython } from './support/hosting';

test('a kernel that kills itself with three runs queued: all four settle, the exit names the signal (vscode-jupyter 17286)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const exits: unknown[] = [];
  kernel.onDidExit((exit) => exits.push(exit));
  const runs = ['import os; os.kill(os.getpid(), 9)', '1', '2', '3'].map((code) =>
    run(kernel, code),
  );

  const cancelled = { status: 'error', cancelled: true, timedOut: false, stdinRequested: false };
  expect(await Promise.all(runs.map(({ reply }) => reply))).toEqual(Array(4).fill(cancelled));

  expect(kernel.isAlive()).toBe(false);
  expect(kernel.exit).toMatchObject({ code: null, signal: 'SIGKILL' });
  expect(kernel.exit?.summary).toMatch(/killed \(SIGKILL\), perhaps because memory ran out/);
  expect(exits).toEqual([kernel.exit]);
  expect(await kernel.shutdown()).toEqual({ confirmed: true });
  const next = await startPython(hosting);
  expect(await run(next, '1').reply).toMatchObject({ status: 'ok' });
});

test('a crash in native code names the signal, the place and the last lines of stderr (vscode-jupyter 13087)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  await run(kernel, 'import ctypes\nctypes.string_at(0)').reply;
  expect(kernel.exit?.signal).toBe('SIGSEGV');
  expect(kernel.exit?.summary).toMatch(
    /crashed \(SIGSEGV.*native extension; it stood at .*line \d+/,
  );
  expect(kernel.exit?.summary).toMatch(/the next run starts a new kernel/);
  expect(kernel.exit?.stderrTail).toMatch(/Segmentation fault/);
});

test('a kernel that leaves by os._exit says its code', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const last = run(kernel, 'import os, sys\nprint("last words", flush=True)\nos._exit(7)');
  expect(await last.reply).toMatchObject({ cancelled: true });
  expect(last.text()).toBe('last words\n');
  expect(kernel.exit).toMatchObject({ code: 7, signal: null });
  expect(kernel.exit?.summary).toMatch(/ended by itself with code 7/);
});

test('a broken frame stops the kernel, names the frame and loses nothing before it', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  // The descriptor of the frames has no fixed number: code that looks for it can still break in.
  const broken = run(
    kernel,
    `
print("before", flush=True)
import os, struct, time
bad = b'{"op":"nonsense"}'
for fd in map(int, os.listdir('/proc/self/fd')):
    if fd < 3: continue
    try:
        os.write(fd, struct.pack('>I', len(bad)) + bad)
    except OSError:
        pass
time.sleep(60)
`,
  );
  expect(await broken.reply).toMatchObject({ cancelled: true });
  expect(broken.text()).toBe('before\n');
  expect(kernel.exit?.summary).toMatch(
    /had to be stopped: The runner sent a bad frame: .*nonsense/,
  );
});
