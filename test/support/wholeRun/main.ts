import { listenForInterruption } from '../processes/interruption';
import { type LevelName, parseWanted } from './arguments';
import { watchForLeftovers } from './leftovers';
import { runLevel } from './levels';
import { type LevelOutcome, merge } from './outcome';
import { printSummary } from './summary';

const { levels, selection, seconds, isSoak, seed } = parseWanted(process.argv.slice(2));
process.env['HOLDFAST_CHAOS_SECONDS'] = String(seconds);
if (isSoak) process.env['HOLDFAST_SOAK'] = '1';
if (seed !== undefined) process.env['HOLDFAST_CHAOS_SEED'] = seed;
const leftovers = watchForLeftovers();
void listenForInterruption().happened.then(() => {
  leftovers.endAll();
  process.exit(130);
});

const outcomes = new Map<LevelName, LevelOutcome>();
for (const level of levels) {
  process.stdout.write(`\n── ${level} ──\n`);
  const outcome = await runLevel(level, selection);
  const left = await leftovers.afterLevel(level);
  outcomes.set(level, left === undefined ? outcome : merge(outcome, left));
}
process.exitCode = printSummary(outcomes) ? 0 : 1;
