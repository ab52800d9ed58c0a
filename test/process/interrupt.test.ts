import { expect, test } from 'vitest';
import { hostingForTest, run, startPython } from './support/hosting';

test('an interrupt ends the run that it names, and no other', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const first = run(kernel, 'print("first")\nwhile True: id(0)', { executionId: 'first' });
  const second = run(kernel, 'import time\nprint("second")\ntime.sleep(0.5)\n"done"', {
    executionId: 'second',
  });
  await first.saw('first');
  expect(await kernel.interrupt('second')).toMatchObject({ delivered: false });
  expect(await kernel.interrupt('first')).toEqual({
    delivered: true,
    target: `process group ${kernel.pid}`,
  });
  expect(await first.reply).toMatchObject({ status: 'error', cancelled: true });
  // The first is over: an interrupt meant for it cannot hit what runs now.
  await second.saw('second');
  expect(await kernel.interrupt('first')).toMatchObject({
    delivered: false,
    reason: 'This run is not running.',
  });
  expect(await second.reply).toMatchObject({ status: 'ok', cancelled: false });
});

test('an interrupt or a cancel right after its run ends that at once, and the kernel lives', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const loop = 'while True: id(0)';
  for (let round = 0; round < 10; round += 1) {
    const runs = run(kernel, loop, { executionId: `run ${round}` });
    expect(await kernel.interrupt(`run ${round}`)).toMatchObject({ delivered: true });
    expect(await runs.reply).toMatchObject({ cancelled: true });
    const cancelled = run(kernel, loop);
    cancelled.abort.abort();
    const reply = await cancelled.reply;
    expect(reply).toMatchObject({ cancelled: true });
    expect(reply).not.toHaveProperty('killed');
  }
  expect(await run(kernel, '1').reply).toMatchObject({ status: 'ok' });
});

test('each interrupt is a real signal: a loop that swallows the first ends by the second (vscode-jupyter 2158)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const swallows = run(
    kernel,
    'try:\n  print("one")\n  while True: id(0)\nexcept KeyboardInterrupt:\n  print("two")\nwhile True: id(0)',
  );
  await swallows.saw('one');
  await kernel.interrupt();
  await swallows.saw('two');
  await kernel.interrupt();
  expect(await swallows.reply).toMatchObject({ cancelled: true });
  expect(await run(kernel, '1').reply).toMatchObject({ status: 'ok' });
});

test('an interrupt reaches a subprocess that the code waits for (vscode-jupyter 14959)', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const waits = run(
    kernel,
    'import subprocess\nsubprocess.run(["bash", "-c", "echo on; while :; do sleep 1; done"])',
  );
  await waits.saw('on');
  await kernel.interrupt();
  expect(await waits.reply).toMatchObject({ cancelled: true });
  expect(await run(kernel, '1').reply).toMatchObject({ status: 'ok' });
});

test('an aborted run is interrupted and the kernel lives; one that waits is never sent', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const runs = run(kernel, 'print("on")\nwhile True: id(0)');
  const waits = run(kernel, 'sent = True');
  await runs.saw('on');
  waits.abort.abort();
  expect(await waits.reply).toMatchObject({ cancelled: true });
  runs.abort.abort();
  const reply = await runs.reply;
  expect(reply).toMatchObject({ cancelled: true });
  expect(reply).not.toHaveProperty('killed');
  const after = run(kernel, 'print("sent" in globals())');
  await after.reply;
  expect(after.text()).toBe('False\n');
});

test('an abort that is not heeded for 5 s kills the kernel, and the reply says so', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const deaf = run(
    kernel,
    'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint("on")\nwhile True: id(0)',
  );
  await deaf.saw('on');
  const before = Date.now();
  deaf.abort.abort();
  expect(await deaf.reply).toEqual({
    status: 'error',
    cancelled: true,
    timedOut: false,
    stdinRequested: false,
    killed: true,
  });
  expect(Date.now() - before).toBeGreaterThanOrEqual(4_900);
  expect(kernel.isAlive()).toBe(false);
  expect(kernel.exit?.summary).toMatch(/did not heed its interrupt/);
});

test('input goes to who can answer; end of file is not an empty line', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const answers = ['Ann', '', null];
  const prompts: string[] = [];
  const asks = run(
    kernel,
    `
print(repr(input('name? ')), repr(input('more? ')))
try:
    input()
except EOFError:
    print('eof')
`,
    {
      onInput({ prompt }) {
        prompts.push(prompt);
        return Promise.resolve(answers.shift() ?? null);
      },
    },
  );
  expect(await asks.reply).toMatchObject({ status: 'ok', stdinRequested: false });
  expect(prompts).toEqual(['name? ', 'more? ', '']);
  expect(asks.text()).toContain("'Ann' ''\neof\n");
});

test('an interrupted question is taken back', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  let takenBack: Promise<unknown> | undefined;
  const asks = run(kernel, 'input("? ")', {
    onInput({ signal }) {
      takenBack = new Promise((resolve) => signal.addEventListener('abort', resolve));
      void kernel.interrupt();
      return new Promise(() => undefined);
    },
  });
  expect(await asks.reply).toMatchObject({ cancelled: true });
  await takenBack;
});

test('with nobody to answer, asking ends the run and says so', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const asks = run(kernel, 'input("? ")');
  expect(await asks.reply).toMatchObject({ status: 'error', stdinRequested: true });
});
