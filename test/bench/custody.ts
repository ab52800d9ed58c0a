import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { silentLog } from '../../src/base/log';
import { createTranscript } from '../../src/editor/panel/transcript';
import { keepForNextWindow, keptKeys } from '../../src/editor/reload/keep';
import { takeUp, type TakenUp } from '../../src/editor/reload/takeUp';
import { SessionBook } from '../../src/editor/sessions/sessionBook';
import {
  createKernelHosting,
  discoverHosts,
  hostToTakeUp,
  type FoundHost,
  type KernelHosting,
} from '../../src/hosting';
import { nextChangeOf } from '../../src/hosting/discover';
import { Custody } from '../../src/kernelHost/custody';
import { ownIdentity } from '../../src/kernelHost/identity';
import { KERNEL_LIMITS } from '../../src/kernel/limits';
import { readRunners } from '../../src/kernelHost/runners';
import { Ledger } from '../../src/ledger/ledger';
import { platformProcesses } from '../../src/platform/processes';
import { createKernelPool } from '../../src/pool/pool';
import type { KernelPool } from '../../src/pool/types';
import { realPython } from './peers';
import { add, median, type Report } from './report';
import { createStack } from './stack';

const root = path.resolve(__dirname, '../..');
const ROUNDS = 2_000;
const HOP_LIMIT_MS = 0.3;
const KERNELS = 10;
const RELOADS = 7;
/** An owner's clean-up. */
const STOP_LIMIT_MS = 2_000;
const signal = new AbortController().signal;

/** What it costs that kernels live in a process of their own, and what that gives: a reload without a start. */
export async function measureCustody(report: Report): Promise<void> {
  const python = realPython();
  const folder = mkdtempSync(path.join(tmpdir(), 'hf-'));
  try {
    await measureHop(report, python, folder);
    await measureReload(report, python, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await measureStops(report, python);
}

/** The same runner twice, here and behind the socket; runs take turns, so that noise hits both alike. */
async function measureHop(report: Report, python: string, folder: string): Promise<void> {
  const own = path.join(folder, 'own');
  mkdirSync(own, { mode: 0o700 });
  const processes = platformProcesses();
  const ledger = new Ledger(own, await ownIdentity(processes));
  const runners = await readRunners(path.join(root, 'media/runners'), own);
  const tools = { processes, limits: () => KERNEL_LIMITS, ledger, log: silentLog };
  const nobody = (): void => undefined;
  const custody = new Custody(runners, tools, {
    onOutput: nobody,
    onQuestion: nobody,
    onQuestionOver: nobody,
    onStopStep: nobody,
    onExit: nobody,
    onCount: nobody,
    onSilence: nobody,
  });
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
  const spec = { language: 'python' as const, interpreter: python, cwd: homedir(), env };
  await custody.start({ ...spec, kernelId: 'direct', history: 'direct' }, signal);
  const direct = custody.find('direct');
  const hosting = hostingIn(folder, 0);
  const remote = await hosting.startKernel({ ...spec, sessionId: 'python:hop', signal });

  const here: number[] = [];
  const there: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const executionId = `hop-${round}`;
    const request = { executionId, code: '1+1', stdin: false };
    here.push(await timed(() => direct?.execute(request)));
    there.push(await timed(() => remote.execute('1+1', { executionId, signal, onOutput: nobody })));
  }
  await Promise.all([custody.close(), remote.shutdown()]);
  await hosting.leave();
  const [p50, direct50] = [median(there), median(here)];
  add(report, 'hop: 1+1 behind the socket, p50', p50, 'ms', 'the same kernel here', direct50);
  add(report, 'hop: what the kernel host adds, p50', p50 - direct50, 'ms', 'limit', HOP_LIMIT_MS);
}

/** A window that leaves, and one that comes: to the first tree, and to a result of its session. */
async function measureReload(report: Report, python: string, folder: string): Promise<void> {
  const trees: number[] = [];
  const results: number[] = [];
  let hosting = hostingIn(folder);
  let pool = poolOn(hosting, python, {});
  await run(pool, 'x = 1');
  for (let reload = 0; reload < RELOADS; reload += 1) {
    await hosting.leave();
    const began = performance.now();
    const found = await freeHost(folder);
    hosting = hostingIn(folder);
    pool = poolOn(hosting, python, takenUp(await hosting.adopt(found)));
    if (pool.sessions().length !== 1) throw new Error('The session is not there.');
    trees.push(performance.now() - began);
    const { output } = await run(pool, 'print(x)');
    if (output !== '1\n') throw new Error(`Its variable is not there: ${output}`);
    results.push(performance.now() - began);
  }
  await pool.disposeOwner(OWNER);
  hosting.setGrace(0);
  await hosting.leave();

  const stack = createStack(python);
  const cold = await timed(() => stack.run('1+1', 'python:first'));
  await stack.dispose();
  const peer = 'first result, no host';
  add(report, 'reload: to the first tree', median(trees), 'ms', peer, cold);
  add(report, 'reload: to the first result', median(results), 'ms', peer, cold);
}

async function measureStops(report: Report, python: string): Promise<void> {
  const one = await stopping(python, 1);
  const ten = await stopping(python, KERNELS);
  add(report, `stop: ${KERNELS} idle kernels at once`, ten, 'ms', 'limit', STOP_LIMIT_MS);
  add(report, `stop: ${KERNELS} kernels / 1 kernel`, ten, 'ms', '1 kernel', one);
}

async function stopping(python: string, kernels: number): Promise<number> {
  const stack = createStack(python);
  const names = Array.from({ length: kernels }, (_, index) => `python:${index}`);
  await Promise.all(names.map((name) => stack.run('1+1', name)));
  const tookMs = await timed(() => stack.pool.disposeAll());
  if (stack.pool.sessions().length > 0) throw new Error('Some are not stopped.');
  await stack.dispose();
  return tookMs;
}

const OWNER = 'window:bench';

const run = (pool: KernelPool, code: string): ReturnType<KernelPool['execute']> =>
  pool.execute(code, { cwd: homedir(), sessionId: 'python:bench', ownerId: OWNER });

/** As a window that has just opened waits for the one before it to let go. */
async function freeHost(folder: string): Promise<FoundHost> {
  for (;;) {
    const hosts = await discoverHosts({ workspace: 'bench', runtimeDir: folder, log: silentLog });
    const free = hostToTakeUp(hosts);
    if (free) return free;
    const [one] = hosts;
    if (one === undefined) throw new Error('There is no host to take up.');
    await nextChangeOf(one, 1_000);
  }
}

function hostingIn(folder: string, graceMs = 10_000): KernelHosting {
  return createKernelHosting({
    hostScript: path.join(root, 'dist/kernelHost.js'),
    runnersDir: path.join(root, 'media/runners'),
    log: silentLog,
    runtimeDir: folder,
    workspace: 'bench',
    graceMs,
  });
}

function takenUp(adoption: Awaited<ReturnType<KernelHosting['adopt']>>): TakenUp {
  return takeUp(adoption, {
    ownerId: OWNER,
    transcript: createTranscript(),
    book: new SessionBook(),
    // Nothing runs over these reloads.
    runs: { takeUp: () => ({}), follow: () => undefined },
    otherPlaces: [],
    record() {},
    preludes: { takeUp: (kernel) => Promise.resolve(kernel) },
    log: silentLog,
  });
}

function poolOn(hosting: KernelHosting, python: string, before: TakenUp): KernelPool {
  keepForNextWindow({
    ...{ host: hosting, ownerId: OWNER },
    ...{ book: new SessionBook(), transcript: createTranscript() },
  });
  return createKernelPool({
    ...before,
    onRecord: (id, record) => hosting.keep(keptKeys.session(id), record),
    startKernel: ({ cwd, sessionId, place, signal: called }) =>
      hosting.startKernel({
        language: 'python',
        interpreter: python,
        cwd,
        sessionId,
        env: process.env,
        ...(place && { place }),
        signal: called,
      }),
  });
}

async function timed(work: () => Promise<unknown> | undefined): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
