import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import * as v from 'valibot';

const root = path.resolve(__dirname, '../..');
const peersDir = path.join(root, 'test/bench/peers');

/** The interpreter itself: what is on the PATH may be a script of a version manager, which takes longer than Python. */
export function realPython(): string {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  return stdout.trim();
}

/** Milliseconds from spawn to exit of an interpreter that prints one result. */
export async function barePython(python: string, code = 'print(1+1)'): Promise<number> {
  const began = performance.now();
  const child = spawn(python, ['-c', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  await once(child, 'close');
  return performance.now() - began;
}

/** A bare line-JSON runner: cold first result, then warm round trips, in milliseconds. */
export async function stdioRunner(
  python: string,
  rounds: number,
): Promise<{ cold: number; warm: number[] }> {
  const began = performance.now();
  const child = spawn(python, [path.join(peersDir, 'stdio_runner.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const run = async (): Promise<void> => {
    child.stdin.write('{"code": "1+1"}\n');
    await lines.next();
  };
  await run();
  const cold = performance.now() - began;
  const warm: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    await run();
    warm.push(performance.now() - start);
  }
  child.stdin.end();
  await once(child, 'exit');
  return { cold, warm };
}

const jupyterFigures = v.object({ cold: v.number(), warm: v.number(), flood200k: v.number() });
export type JupyterFigures = v.InferOutput<typeof jupyterFigures>;

/** jupyter_client with ipykernel in a venv of the benchmarks' own; a reason where they can't be installed. */
export function jupyter(
  python: string,
  rounds: number,
): JupyterFigures | { readonly unavailable: string } {
  const venv = path.join(root, '.venv-test');
  const venvPython = path.join(venv, 'bin/python');
  if (!existsSync(path.join(venv, '.ready'))) {
    const steps = [
      [python, '-m', 'venv', '--clear', venv],
      [venvPython, '-m', 'pip', 'install', '--quiet', 'ipykernel', 'jupyter_client'],
      ['touch', path.join(venv, '.ready')],
    ] as const;
    for (const [command, ...args] of steps) {
      const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
      if (status !== 0) {
        const why = (error?.message ?? stderr).trim().split('\n').at(-1) ?? '';
        return { unavailable: `${[command, ...args].join(' ')}: ${why}` };
      }
    }
  }
  const { status, stdout, stderr } = spawnSync(
    venvPython,
    [path.join(peersDir, 'jupyter_peer.py'), String(rounds)],
    { encoding: 'utf8' },
  );
  if (status !== 0) return { unavailable: stderr.trim().split('\n').at(-1) ?? 'failed' };
  return v.parse(jupyterFigures, JSON.parse(stdout));
}
