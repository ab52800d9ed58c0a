// Runs all tests, having set up what they need. usage: npm test [-- --level NAME…] [--only PATTERN] [FILE…]
import { runTypeScript } from './support/runTypeScript.mjs';

await runTypeScript('test/support/wholeRun/main.ts', process.argv.slice(2));
