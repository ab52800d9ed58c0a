import { runChecks } from './wholeRun/checks';

const { failed } = await runChecks();
if (failed.length > 0) process.exitCode = 1;
