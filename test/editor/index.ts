import fs from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';
import type { LevelOutcome } from '../support/wholeRun/outcome';

/** VS Code calls this inside the extension host; a rejection makes it exit with code 1. */
export async function run(): Promise<void> {
  const resultsFile = process.env['HOLDFAST_EDITOR_RESULTS'];
  const reportFile = process.env['HOLDFAST_EDITOR_REPORT'];
  const pattern = process.env['HOLDFAST_EDITOR_GREP'];
  if (resultsFile === undefined) throw new Error('HOLDFAST_EDITOR_RESULTS is not set');

  if (reportFile !== undefined) reportInto(reportFile);
  const mocha = new Mocha({ ui: 'bdd', timeout: 20_000, slow: 2_000, reporter: 'spec' });
  if (pattern !== undefined && pattern !== '') mocha.grep(new RegExp(pattern));
  const tests = fs.readdirSync(__dirname).filter((name) => name.endsWith('.test.js'));
  for (const name of tests) mocha.addFile(path.join(__dirname, name));

  const outcome = await outcomeOf(mocha);
  // Written last: no file means that the run did not come to its end, whatever the exit code says.
  fs.writeFileSync(resultsFile, JSON.stringify(outcome));
  if (outcome.failed.length > 0) throw new Error(`${outcome.failed.length} tests failed`);
}

async function outcomeOf(mocha: Mocha): Promise<LevelOutcome> {
  let passed = 0;
  const failed: { name: string; error: string }[] = [];
  const skipped: { name: string; reason: string }[] = [];
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on('pass', () => passed++);
    runner.on('fail', (test: Mocha.Runnable, error: Error) => {
      failed.push({ name: test.fullTitle(), error: error.stack ?? error.message });
    });
    runner.on('pending', (test: Mocha.Test) => {
      skipped.push({ name: test.fullTitle(), reason: 'skipped by the test' });
    });
  });
  return { passed, failed, skipped };
}

/** Apart from the editor's own log lines, between which the console would put it. */
function reportInto(file: string): void {
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) => {
    fs.appendFileSync(file, `${format(...args)}\n`);
  };
}
