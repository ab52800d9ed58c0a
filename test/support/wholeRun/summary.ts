import type { LevelName } from './arguments';
import { type LevelOutcome, merge } from './outcome';

/** Prints failures, skipped tests and counts; the last line has the totals. Returns whether all is well. */
export function printSummary(outcomes: ReadonlyMap<LevelName, LevelOutcome>): boolean {
  const say = (line: string): boolean => process.stdout.write(`${line}\n`);
  say('\n── summary ──');
  for (const [level, { failed, skipped }] of outcomes) {
    for (const { name, error } of failed) say(`FAILED ${level} › ${name}\n${indent(error)}`);
    for (const { name, reason } of skipped) say(`SKIPPED ${level} › ${name}: ${reason}`);
  }
  const idle = [...outcomes].filter(([, each]) => each.passed + each.failed.length === 0);
  for (const [level] of idle) say(`The level ${level} ran no test: this run proves nothing of it.`);
  for (const [level, outcome] of outcomes) say(`${level.padEnd(8)} ${counts(outcome)}`);

  // Checks are no tests: one that fails counts, one that passes is not worth a number.
  const { passed = 0 } = outcomes.get('check') ?? {};
  const all = merge(...outcomes.values());
  say('');
  say(counts({ ...all, passed: all.passed - passed }));
  return all.failed.length === 0 && idle.length === 0;
}

const counts = ({ passed, failed, skipped }: LevelOutcome): string =>
  `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`;

const indent = (text: string): string => text.replace(/^/gm, '    ');
