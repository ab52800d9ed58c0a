// Runs a TypeScript script of this repository on the plain Node that npm needs anyway.
// usage: node test/support/runTypeScript.mjs <script.ts> [arguments]
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Bundles `script` (a path inside the repository) and runs it here, with `args` as its arguments. */
export async function runTypeScript(script, args) {
  const outfile = path.join(root, 'out/scripts', script.replace(/\.ts$/, '.mjs'));
  await build({
    absWorkingDir: root,
    entryPoints: [script],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  // Its service would stay up as long as the script runs.
  await stop();
  process.chdir(root);
  process.argv = [process.argv[0], outfile, ...args];
  await import(pathToFileURL(outfile).href);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [script, ...args] = process.argv.slice(2);
  await runTypeScript(script, args);
}
