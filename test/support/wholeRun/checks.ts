import { spawn } from 'node:child_process';
import path from 'node:path';
import { repositoryRoot } from '../repository';
import { type LevelOutcome, failure, merge } from './outcome';

interface Check {
  readonly name: string;
  /** A script below node_modules and its arguments. */
  readonly command: readonly [string, ...string[]];
}

const checks: readonly Check[] = [
  {
    name: 'lint (eslint)',
    command: ['eslint/bin/eslint.js', '.', '--max-warnings=0', '--cache', '--cache-location=out/'],
  },
  { name: 'types (tsc)', command: ['typescript/bin/tsc', '-p', '.'] },
  { name: 'types of the panel (tsc)', command: ['typescript/bin/tsc', '-p', 'src/webview'] },
  {
    name: 'layers (dependency-cruiser)',
    command: ['dependency-cruiser/bin/dependency-cruise.mjs', 'src', '--no-progress'],
  },
  {
    name: 'formatting (prettier)',
    command: [
      'prettier/bin/prettier.cjs',
      ...['--check', '--log-level=warn', '--cache', '--cache-location=out/prettier-cache', '.'],
    ],
  },
];

/** Types, lint, layers and formatting, two at a time; prints what those that fail have to say. */
export async function runChecks(): Promise<LevelOutcome> {
  const waiting = [...checks];
  const outcomes: LevelOutcome[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      outcomes.push(await runCheck(next));
    }
  };
  await Promise.all([work(), work()]);
  return merge(...outcomes);
}

async function runCheck({ name, command: [script, ...args] }: Check): Promise<LevelOutcome> {
  const startedAt = performance.now();
  const { code, output } = await runNode([
    path.join(repositoryRoot(), 'node_modules', script),
    ...args,
  ]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${code === 0 ? '✓' : '✗'} ${name} ${seconds} s\n`);
  if (code === 0) return { passed: 1, failed: [], skipped: [] };
  process.stdout.write(`${output}\n`);
  return failure(name, 'see its output above');
}

async function runNode(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, args, {
    cwd: repositoryRoot(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output: Buffer.concat(chunks).toString() };
}
