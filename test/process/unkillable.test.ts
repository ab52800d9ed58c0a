import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import { Custody, type StartSpec } from '../../src/kernelHost/custody';
import { KERNEL_LIMITS, STOP_DEADLINES } from '../../src/kernel/limits';
import { readRunners } from '../../src/kernelHost/runners';
import { Ledger, readLedger } from '../../src/ledger/ledger';
import { platformProcesses, type Processes } from '../../src/platform/processes';
import { markedWith } from '../support/processes/processTable';
import { until } from '../support/until';
import { runnersDir, temporaryFolder } from './support/hosting';
import { alive, endAfterTest } from './support/processes';

/** Processes that take no signal until they are let: as one that waits for a disk in the kernel of the system. */
function stubbornProcesses(): Processes & { heed: boolean } {
  const real = platformProcesses();
  const processes = {
    ...real,
    heed: false,
    signalGroup: (...[pid, signal]: Parameters<Processes['signalGroup']>) =>
      processes.heed ? real.signalGroup(pid, signal) : Promise.resolve('forbidden' as const),
  };
  return processes;
}

interface CustodyOptions {
  readonly retryEveryMs?: number;
  readonly readyWithinMs?: number;
}

async function custodyOf(
  processes: Processes,
  { retryEveryMs, readyWithinMs = KERNEL_LIMITS.readyWithinMs }: CustodyOptions = {},
): Promise<{ custody: Custody; folder: string; start: () => StartSpec }> {
  const folder = temporaryFolder();
  const ledger = new Ledger(path.join(folder, 'run'), { id: 'x', pid: 1, boot: '', namespace: '' });
  const custody = new Custody(
    await readRunners(runnersDir, folder),
    {
      ...{ processes, ledger, log: silentLog },
      limits: () => ({
        stop: { ...STOP_DEADLINES, askIdle: 50, kill: 100, terminate: 50 },
        readyWithinMs,
      }),
    },
    {
      ...{ onOutput() {}, onQuestion() {}, onQuestionOver() {}, onStopStep() {}, onSilence() {} },
      ...{ onExit() {}, onCount() {} },
    },
    retryEveryMs,
  );
  const env = { ...process.env, HOLDFAST_TEST_MARK: path.basename(folder) };
  return {
    custody,
    folder,
    start: () => ({
      ...{ kernelId: 'k', language: 'python', interpreter: 'python3', cwd: os.tmpdir() },
      ...{ env: env as unknown as Record<string, string>, history: 'h' },
    }),
  };
}

const never = new AbortController().signal;

test('a failed start whose kill does nothing: the process stays in custody and in the ledger, and is ended when that can be', async () => {
  const processes = stubbornProcesses();
  const { custody, folder, start } = await custodyOf(processes, {
    retryEveryMs: 100,
    readyWithinMs: 1,
  });
  const late = custody.start(start(), never);
  await expect(late).rejects.toMatchObject({ code: 'start_timeout' });
  const [left = 0] = markedWith('HOLDFAST_TEST_MARK', path.basename(folder)).map(({ pid }) => pid);
  endAfterTest(left);
  expect(alive(left)).toBe(true);
  expect((await readLedger(path.join(folder, 'run')))?.entries).toHaveLength(1);

  processes.heed = true;
  expect(await until(() => !alive(left), 5_000)).toBe(true);
  const isClear = async (): Promise<boolean> =>
    (await readLedger(path.join(folder, 'run')))?.entries.length === 0;
  await expect.poll(isClear, { timeout: 5_000 }).toBe(true);
});

test('a host that leaves ends what is left of failed starts too', async () => {
  const processes = stubbornProcesses();
  const { custody, folder, start } = await custodyOf(processes, { readyWithinMs: 1 });
  await expect(custody.start(start(), never)).rejects.toThrow('ready within');
  const [left = 0] = markedWith('HOLDFAST_TEST_MARK', path.basename(folder)).map(({ pid }) => pid);
  endAfterTest(left);
  processes.heed = true;
  expect(await custody.close()).toBe(true);
  expect(alive(left)).toBe(false);
});

test('an interrupt that is not permitted says so, not that nobody is there', async () => {
  const processes = stubbornProcesses();
  const { custody, start } = await custodyOf(processes);
  onTestFinished(async () => {
    processes.heed = true;
    await custody.close();
  });
  const { kernel } = await custody.start(start(), never);
  expect(await kernel.interrupt()).toEqual({
    delivered: false,
    target: `process group ${kernel.pid}`,
    reason: 'It is not permitted: its processes belong to another user.',
  });
});
