import fs from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';
import type { LevelOutcome } from './outcome';

/** Writes the {@link LevelOutcome} of a vitest run, reasons of skipped tests included, to HOLDFAST_OUTCOME_FILE. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const file = process.env['HOLDFAST_OUTCOME_FILE'];
    if (file === undefined) throw new Error('HOLDFAST_OUTCOME_FILE is not set');
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const outcome: LevelOutcome = {
      passed: tests.filter((test) => test.result().state === 'passed').length,
      failed: [
        ...tests.filter((test) => test.result().state === 'failed').map(failedTest),
        ...modules.flatMap(failedSuites),
        ...unhandled.map((error) => ({ name: 'an error outside of any test', error: text(error) })),
      ],
      skipped: tests
        .filter((test) => ['skipped', 'pending'].includes(test.result().state))
        .map(skippedTest),
    };
    fs.writeFileSync(file, JSON.stringify(outcome));
  }
}

const failedTest = (test: TestCase): LevelOutcome['failed'][number] => ({
  name: nameOf(test),
  error: (test.result().errors ?? []).map(text).join('\n'),
});

/** Files that can't be loaded, and hooks that fail around tests. */
function failedSuites(module: TestModule): LevelOutcome['failed'] {
  const suites = [module, ...module.children.allSuites()];
  return suites.flatMap((suite) =>
    suite.errors().map((error) => ({
      name: `${module.relativeModuleId}: the file or a hook`,
      error: text(error),
    })),
  );
}

function skippedTest(test: TestCase): LevelOutcome['skipped'][number] {
  const result = test.result();
  const note = 'note' in result ? result.note : undefined;
  return { name: nameOf(test), reason: note ?? 'skipped by the test or by a filter' };
}

const nameOf = (test: TestCase): string => `${test.module.relativeModuleId}: ${test.fullName}`;

const text = ({ stack, message }: { stack?: string; message?: string }): string =>
  stack ?? message ?? 'no message';
