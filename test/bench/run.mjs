// Builds the benchmarks and runs them. usage: node test/bench/run.mjs [--json FILE] [--only NAME]
// Every figure stands beside a peer or a limit measured in the same run; trust the ratio, not the figure.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const node = (...args) => {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};

node('esbuild.mjs', '--production');
await build({
  entryPoints: [path.join(root, 'test/bench/main.ts')],
  outfile: path.join(root, 'out/bench/main.js'),
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  logLevel: 'warning',
});
node('--expose-gc', 'out/bench/main.js', ...process.argv.slice(2));
