import { introspectHelpers } from '../../src/editor/python/helpers';
import { setTimeout as delay } from 'node:timers/promises';
import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import {
  createKernelHosting,
  discoverHosts,
  hostToTakeUp,
  type Adoption,
  type FoundHost,
  type KernelHosting,
} from '../../src/hosting';
import type { KernelOutput } from '../../src/kernel/output';
import type { PooledKernel } from '../../src/kernel/kernel';
import { until } from '../support/until';
import { run, runnersDir, type FullKernel } from './support/hosting';
import { alive, expectGone } from './support/processes';
import { busy, standIn, type StandIn } from './support/standIn';

const place = { id: 'session-0', incarnation: 1 };
const never = new AbortController().signal;

async function find({ runtimeDir }: StandIn, workspace = 'test'): Promise<FoundHost | undefined> {
  return hostToTakeUp(await discoverHosts({ workspace, runtimeDir, log: silentLog }));
}

/** Waits until the host has seen that its client is gone. */
async function findFree(first: StandIn): Promise<FoundHost> {
  let found: FoundHost | undefined;
  await until(async () => (found = await find(first)) !== undefined, 5_000, 10);
  if (found === undefined) throw new Error('no host is free');
  return found;
}

function secondWindow({ runtimeDir, hostScript }: StandIn, graceMs = 0): KernelHosting {
  const hosting = createKernelHosting({
    hostScript,
    runnersDir,
    runtimeDir,
    workspace: 'test',
    graceMs,
    log: silentLog,
  });
  onTestFinished(() => hosting.leave());
  return hosting;
}

async function reload(
  first: StandIn,
): Promise<{ hosting: KernelHosting; adoption: Adoption; kernel: FullKernel }> {
  process.kill(first.pid, 'SIGKILL');
  const hosting = secondWindow(first);
  const adoption = await hosting.adopt(await findFree(first));
  const kernel = await adoption.reattach(place, never);
  if (kernel === undefined) throw new Error('the kernel is gone');
  return { hosting, adoption, kernel: kernel as FullKernel };
}

/** Takes the execution up that the first window had begun. */
function resume(kernel: PooledKernel): {
  text: () => string;
  reply: ReturnType<FullKernel['execute']>;
  abort: AbortController;
} {
  const outputs: KernelOutput[] = [];
  const abort = new AbortController();
  const reply = (kernel as FullKernel).resume({
    executionId: 'run',
    signal: abort.signal,
    onOutput: (output) => typeof output !== 'string' && outputs.push(output),
  });
  const text = (): string =>
    outputs.map((output) => (output.type === 'stream' ? output.text : '')).join('');
  return { text, reply, abort };
}

const slowly = `
import time
for i in range(1, 51):
    print("line", i, flush=True)
    time.sleep(0.04)
`;

test('the client is SIGKILLed while code prints 1 to 50: the next one has every line once, and the end (positron 4577)', async () => {
  const first = await standIn({ graceMs: 10_000, codes: [slowly] });
  const { adoption, kernel } = await reload(first);
  const run = resume(kernel);
  expect(await run.reply).toMatchObject({ status: 'ok', cancelled: false });
  const lines = run.text().trim().split('\n');
  expect(lines).toEqual(Array.from({ length: 50 }, (_, i) => `line ${i + 1}`));
  expect(adoption.kept.get('note')).toEqual({ from: 'the first window' });
  expect(adoption.histories.get('history-0')?.[0]).toMatchObject({
    n: 1,
    what: 'begun',
    execution: 'run',
    code: slowly,
  });
});

test('what was known of a run’s end stays known, though its kernel dies before the run is taken up', async () => {
  const first = await standIn({ graceMs: 10_000, codes: ['print("done", flush=True)'] });
  const { kernel } = await reload(first);
  process.kill(kernel.pid, 'SIGKILL');
  await until(() => !kernel.isAlive(), 5_000, 10);
  const resumed = resume(kernel);
  expect(await resumed.reply).toMatchObject({ status: 'ok', cancelled: false });
  expect(resumed.text()).toBe('done\n');
});

test('the same with a run that ends while nobody is attached', async () => {
  const quick = 'print("line 1", flush=True)\nimport time\ntime.sleep(0.5)\nprint("line 2")\n1 / 0';
  const first = await standIn({ graceMs: 10_000, codes: [quick] });
  process.kill(first.pid, 'SIGKILL');
  const host = await findFree(first);
  await delay(1_500); // Nobody is there to be told of the end.
  const hosting = secondWindow(first);
  const adoption = await hosting.adopt(host);
  const kernel = await adoption.reattach(place, never);
  const resumed = resume(kernel!);
  expect(await resumed.reply).toMatchObject({ status: 'error', cancelled: false });
  expect(resumed.text()).toBe('line 1\nline 2\n');
  expect(adoption.histories.get('history-0')?.map(({ what }) => what)).toEqual([
    'begun',
    'output',
    'output',
    'finished',
  ]);
  // Its variables are those of before.
  const next = run(kernel!, 'time.__name__');
  await next.reply;
  expect(next.outputs).toMatchObject([{ type: 'result', data: { 'text/plain': "'time'" } }]);
});

test('an endless loop over a reload: interrupt and kill still work (positron 8041)', async () => {
  // In a call: CPython 3.11 lets an interrupt at a loop's jump escape a try around the loop itself.
  const heeds =
    'def spin():\n    while True: id(0)\nprint(0, flush=True)\n' +
    'try:\n    spin()\nexcept KeyboardInterrupt: print("stopped")';
  const first = await standIn({ graceMs: 10_000, codes: [heeds, busy] });
  const { adoption, kernel } = await reload(first);
  const run = resume(kernel);
  expect(await kernel.interrupt('run')).toMatchObject({ delivered: true });
  expect(await run.reply).toMatchObject({ status: 'ok' });
  expect(run.text()).toBe('0\nstopped\n');

  const stubborn = (await adoption.reattach({ id: 'session-1', incarnation: 1 }, never))!;
  const stuck = resume(stubborn);
  expect(await stubborn.interrupt?.('run')).toMatchObject({ delivered: true });
  expect(await stubborn.kill?.()).toEqual({ confirmed: true });
  expect(await stuck.reply).toMatchObject({ cancelled: true });
  await expectGone(first.family.slice(1), 2_000);
});

test('the client says goodbye: a reload looks the same as a crash', async () => {
  const first = await standIn({ graceMs: 10_000, codes: ['x = 41\nprint(0, flush=True)'] });
  first.leave();
  await expectGone([first.pid], 5_000);
  const hosting = secondWindow(first);
  const adoption = await hosting.adopt(await findFree(first));
  const kernel = (await adoption.reattach(place, never))!;
  await resume(kernel).reply;
  const next = run(kernel, 'x + 1');
  await next.reply;
  expect(next.outputs).toMatchObject([{ data: { 'text/plain': '42' } }]);
  expect(hosting.hostPid).toBe(first.hostPid);
});

test('nobody comes within the grace period: then everything is gone, and not before', async () => {
  const first = await standIn({ graceMs: 1_500 });
  process.kill(first.pid, 'SIGKILL');
  await findFree(first);
  await delay(700); // Half of its time.
  expect(first.family.every(alive)).toBe(true);
  await expectGone([first.hostPid, ...first.family], 1_500 + 5_000);
  expect(readdirSync(first.runtimeDir)).toEqual([]);
});

test('a host is claimed by one only, and none whose client lives', async () => {
  const first = await standIn({ graceMs: 10_000, codes: ['print(0, flush=True)'] });
  expect(await find(first)).toBeUndefined();
  process.kill(first.pid, 'SIGKILL');
  const host = await findFree(first);
  expect(await find(first, 'another folder')).toBeUndefined();
  const claims = await Promise.allSettled(
    Array.from({ length: 5 }, () => secondWindow(first).adopt(host)),
  );
  const winners = claims.filter(({ status }) => status === 'fulfilled');
  expect(winners).toHaveLength(1);
});

test('several hosts could be meant: none is taken', async () => {
  const first = await standIn({ graceMs: 10_000, codes: ['print(0, flush=True)'] });
  const { runtimeDir } = first;
  const other = await standIn({ graceMs: 10_000, codes: ['print(0, flush=True)'], runtimeDir });
  process.kill(first.pid, 'SIGKILL');
  process.kill(other.pid, 'SIGKILL');
  const free = async (): Promise<number> =>
    (await discoverHosts({ workspace: 'test', runtimeDir, log: silentLog })).filter(
      ({ isFree }) => isFree,
    ).length;
  expect(await until(async () => (await free()) === 2, 5_000, 10)).toBe(true);
  expect(await find(first)).toBeUndefined();
});

test('a kernel that was taken up tells its helpers, also by a look named like the last one before', async () => {
  const define = 'exec(compile("def half(n): return n / 2", "/w/tools.py", "exec"))\nprint(0)';
  const first = await standIn({ graceMs: 10_000, codes: [define] });
  const { kernel } = await reload(first);
  const files = [{ path: '/w/tools.py', code: 'def half(n): return n / 2' }];
  const helpers = await introspectHelpers(kernel, files, () => 'run');
  expect(helpers.map(({ name, signature }) => name + signature)).toEqual(['half(n)']);
});
