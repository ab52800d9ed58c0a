import { createAdmission } from '../../src/runner/admission';
import { admitted } from '../../src/runner/admitted';
import { createEvalRunner, type ExecuteOptions } from '../../src/runner/runner';
import type { ExecutionResult } from '../../src/pool/types';
import { resultOf } from '../support/executionResult';
import { add, median, type Report } from './report';

const RUNS = 20_000;
const LIMIT_US = 50;

/** What the door adds to a run, on an execute that answers at once, with a hook and a record as in the product. */
export async function measureDoor(report: Report): Promise<void> {
  const result = resultOf();
  const execute = (_code: string, _options: ExecuteOptions): Promise<ExecutionResult> =>
    Promise.resolve(result);
  const direct = await p50((i) => {
    const { signal } = new AbortController();
    return execute(String(i), { ownerId: 'o', language: 'python', cwd: '/bench', signal });
  });
  let records = 0;
  const runner = createEvalRunner({
    ownerId: 'o',
    execute: admitted(createAdmission({ captureEnabled: true }), execute),
    disposers: [],
    hooks: [() => undefined],
    isStreaming: () => false,
    record: () => void records++,
  });
  const through = await p50((i) => runner.run(String(i), { language: 'python', cwd: '/bench' }));
  if (records === 0) throw new Error('Nothing was recorded.');
  const overhead = Math.max(0, through - direct);
  add(report, 'door: what it adds to a run, p50', overhead, 'µs', 'limit', LIMIT_US);
  add(report, 'door: a run / a direct execute, p50', through, 'µs', 'direct execute', direct);
}

async function p50(run: (i: number) => Promise<unknown>): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const began = performance.now();
    await run(i);
    samples.push((performance.now() - began) * 1000);
  }
  return median(samples);
}
