// Builds the bundles: the extension, the kernel host (a process of its own), the thread of captures and the panel (a browser page).
// usage: node esbuild.mjs [--watch] [--production] [--only=extension|kernelHost|captureWorker|panel]
import { context, build } from 'esbuild';

const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');
const only = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice('--only='.length);

/** @type {import('esbuild').BuildOptions} */
const common = {
  bundle: true,
  minify: production,
  sourcemap: production ? false : 'linked',
  logLevel: 'warning',
  legalComments: 'none',
};

/** @type {import('esbuild').BuildOptions} */
const node = { ...common, platform: 'node', format: 'cjs', target: 'node20' };

const bundles = [
  {
    ...node,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    external: ['vscode'],
  },
  { ...node, entryPoints: ['src/kernelHost/main.ts'], outfile: 'dist/kernelHost.js' },
  {
    ...node,
    entryPoints: ['src/editor/capture/worker.ts'],
    outfile: 'dist/captureWorker.js',
  },
  {
    ...common,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    tsconfig: 'src/webview/tsconfig.json',
    entryPoints: ['src/webview/panel.ts'],
    outfile: 'dist/panel.js',
  },
].filter(({ outfile }) => only === undefined || outfile === `dist/${only}.js`);

if (watch) {
  for (const options of bundles) await (await context(options)).watch();
} else {
  await Promise.all(bundles.map((options) => build(options)));
}
