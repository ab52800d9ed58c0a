import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { repositoryRoot, testOutputFolder } from '../repository';
import type { Selection } from './arguments';
import { type LevelOutcome, failure } from './outcome';

/** Runs one vitest project, its output going where ours goes. */
export async function runVitest(
  project: string,
  selection: Selection,
  limitMs: number,
): Promise<LevelOutcome> {
  const outcomeFile = path.join(testOutputFolder(), `${project}-results.json`);
  fs.mkdirSync(path.dirname(outcomeFile), { recursive: true });
  fs.rmSync(outcomeFile, { force: true });
  const reporter = path.join(repositoryRoot(), 'test/support/wholeRun/vitestReporter.ts');
  const child = spawn(
    process.execPath,
    [
      path.join(repositoryRoot(), 'node_modules/vitest/vitest.mjs'),
      ...['run', '--project', project, '--reporter=default', `--reporter=${reporter}`],
      ...(selection.only === undefined ? [] : ['-t', selection.only]),
      ...selection.files,
    ],
    {
      cwd: repositoryRoot(),
      env: { ...process.env, HOLDFAST_OUTCOME_FILE: outcomeFile },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: limitMs,
    },
  );
  const ended = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ?? String(code)));
  });
  if (!fs.existsSync(outcomeFile)) return failure(`the ${project} run`, `it ended with ${ended}`);
  const outcome = JSON.parse(fs.readFileSync(outcomeFile, 'utf8')) as LevelOutcome;
  if (ended === '0' || outcome.failed.length > 0) return outcome;
  return { ...outcome, ...failure(`the ${project} run`, `it ended with ${ended}`) };
}
