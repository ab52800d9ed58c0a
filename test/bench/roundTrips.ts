import { homedir } from 'node:os';
import { barePython, jupyter, realPython, stdioRunner } from './peers';
import { add, median, type Report } from './report';
import { createStack } from './stack';

const COLD_ROUNDS = 9;
const WARM_ROUNDS = 2_000;
const COLD_LIMIT_MS = 300;
const COLD_WITH_HOST_LIMIT_MS = 150;
const WARM_LIMIT_MS = 1;

/** Cold starts and warm round trips of `1+1`; variants are interleaved, so that noise hits all alike. */
export async function measureRoundTrips(report: Report): Promise<void> {
  const python = realPython();
  const bare: number[] = [];
  const stdioCold: number[] = [];
  const cold: number[] = [];
  const coldWithHost: number[] = [];
  for (let i = 0; i < COLD_ROUNDS; i++) {
    bare.push(await barePython(python));
    stdioCold.push((await stdioRunner(python, 0)).cold);
    const stack = createStack(python);
    cold.push(await timed(() => stack.run('1+1', 'python:first')));
    coldWithHost.push(await timed(() => stack.run('1+1', 'python:second')));
    await stack.dispose();
  }

  const stack = createStack(python);
  await stack.run('1+1', 'python:warm');
  const warm: number[] = [];
  const face: number[] = [];
  for (let i = 0; i < WARM_ROUNDS; i++) {
    warm.push(await timed(() => stack.run('1+1', 'python:warm')));
    face.push(
      await timed(() =>
        stack.pool.execute('1+1', { cwd: homedir(), sessionId: 'python:warm', ownerId: 'bench' }),
      ),
    );
  }
  await stack.dispose();
  const stdio = await stdioRunner(python, WARM_ROUNDS);

  add(report, 'cold: first result, no host', median(cold), 'ms', 'limit', COLD_LIMIT_MS);
  add(
    report,
    'cold: first result, no host / python3 -c',
    median(cold),
    'ms',
    'python3 -c',
    median(bare),
  );
  add(
    report,
    'cold: first result, host runs',
    median(coldWithHost),
    'ms',
    'limit',
    COLD_WITH_HOST_LIMIT_MS,
  );
  add(
    report,
    'cold: host runs / python3 -c',
    median(coldWithHost),
    'ms',
    'python3 -c',
    median(bare),
  );
  add(
    report,
    'cold: host runs / bare stdio runner',
    median(coldWithHost),
    'ms',
    'stdio runner',
    median(stdioCold),
  );
  add(report, 'warm: 1+1 at the pool', median(face), 'ms', 'limit', WARM_LIMIT_MS);
  add(
    report,
    'warm: 1+1 to the panel model',
    median(warm),
    'ms',
    'stdio runner',
    median(stdio.warm),
  );

  const peer = jupyter(python, 200);
  if ('unavailable' in peer) {
    console.log(`jupyter_client with ipykernel: not measured (${peer.unavailable})`);
    return;
  }
  add(report, 'cold: no host / jupyter_client', median(cold), 'ms', 'jupyter_client', peer.cold);
  add(report, 'warm: 1+1 / jupyter_client', median(warm), 'ms', 'jupyter_client', peer.warm);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
