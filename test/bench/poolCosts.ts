import type { ExecutionReply } from '../../src/kernel/execution';
import type { PooledKernel } from '../../src/kernel/kernel';
import { createKernelPool } from '../../src/pool/pool';
import type { KernelPool } from '../../src/pool/types';
import { add, median, type Report } from './report';

const SESSIONS = 10_000;
const OWNED = 10;
const RUNS = 20_000;
const ROUNDS = 7;
const RUN_LIMIT_US = 50;
const CWD = '/bench';

const reply: ExecutionReply = {
  status: 'ok',
  cancelled: false,
  timedOut: false,
  stdinRequested: false,
};

/** What the pool itself costs, on kernels that answer at once, beside a Map that does no more than look a kernel up. */
export async function measurePool(report: Report): Promise<void> {
  const perRun = await median3(() => poolRun());
  const perLookup = await median3(() => mapRun());
  add(report, 'pool: a run on a retained session', perRun, 'µs', 'limit', RUN_LIMIT_US);
  add(report, 'pool: a run / a plain Map', perRun, 'µs', 'Map and await', perLookup);

  const crowded = await disposal(SESSIONS);
  const alone = await disposal(OWNED);
  add(
    report,
    `pool: dispose ${OWNED} of ${SESSIONS} sessions`,
    crowded,
    'ms',
    `${OWNED} of ${OWNED}`,
    alone,
  );
}

function instantKernel(): PooledKernel {
  let alive = true;
  return {
    isAlive: () => alive,
    execute: () => Promise.resolve(reply),
    shutdown: () => {
      alive = false;
      return Promise.resolve({ confirmed: true });
    },
  };
}

function instantPool(capacity: number): KernelPool {
  return createKernelPool({ capacity, startKernel: () => Promise.resolve(instantKernel()) });
}

/** Microseconds a run. */
async function poolRun(): Promise<number> {
  const pool = instantPool(4);
  const options = { cwd: CWD, sessionId: 's', ownerId: 'o' };
  await pool.execute('1', options);
  const began = performance.now();
  for (let i = 0; i < RUNS; i++) await pool.execute('1', options);
  return ((performance.now() - began) * 1000) / RUNS;
}

async function mapRun(): Promise<number> {
  const kernels = new Map([['s', instantKernel()]]);
  const signal = new AbortController().signal;
  const began = performance.now();
  for (let i = 0; i < RUNS; i++) {
    await kernels
      .get('s')
      ?.execute('1', { executionId: String(i), onOutput: () => undefined, signal });
  }
  return ((performance.now() - began) * 1000) / RUNS;
}

/** Milliseconds to dispose an owner of ten sessions, of `count` in all. */
async function disposal(count: number): Promise<number> {
  const pool = instantPool(count);
  const open = (index: number, ownerId: string): Promise<unknown> =>
    pool.execute('1', { cwd: CWD, sessionId: `s${index}`, ownerId });
  for (let i = OWNED; i < count; i++) await open(i, 'others');
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < OWNED; i++) await open(i, 'me');
    const began = performance.now();
    await pool.disposeOwner('me');
    samples.push(performance.now() - began);
  }
  return median(samples);
}

async function median3(measure: () => Promise<number>): Promise<number> {
  return median([await measure(), await measure(), await measure()]);
}
