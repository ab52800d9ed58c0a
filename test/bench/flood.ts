import { barePython, realPython } from './peers';
import { add, type Report } from './report';
import { createStack } from './stack';
import { longestTurn } from './turns';

const LINES = 1_000_000;
const CODE = `for i in range(${LINES}): print(i)`;
const SLICE_LIMIT_MS = 50;
const HEAP_LIMIT_MB = 64;

/** A million printed lines from the command to the panel's model: pace, the longest slice, memory, totals. */
export async function measureFlood(report: Report): Promise<void> {
  const python = realPython();
  const bare = await barePython(python, CODE);
  const stack = createStack(python);
  await stack.run('1+1', 'python:flood');
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  const began = performance.now();
  const { value: result, longest } = await longestTurn(stack.run(CODE, 'python:flood'));
  const elapsed = performance.now() - began;
  globalThis.gc?.();
  const grownMb = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20;
  await stack.dispose();

  const expectedBytes = Array.from({ length: LINES }, (_, i) => String(i).length + 1).reduce(
    (sum, size) => sum + size,
    0,
  );
  if (result.totalLines !== LINES || result.totalBytes !== expectedBytes) {
    throw new Error(
      `Totals are wrong: ${result.totalLines} lines of ${LINES}, ${result.totalBytes} bytes of ${expectedBytes}.`,
    );
  }
  add(report, 'flood: 1,000,000 lines', elapsed, 'ms', 'python3 -c into a pipe', bare);
  add(report, 'flood: longest slice, CPU', longest.cpuMs, 'ms', 'limit', SLICE_LIMIT_MS);
  add(report, 'flood: longest slice, wall', longest.wallMs, 'ms', 'limit', SLICE_LIMIT_MS);
  add(report, 'flood: heap kept', Math.max(grownMb, 0), 'MB', 'limit', HEAP_LIMIT_MB);
}
