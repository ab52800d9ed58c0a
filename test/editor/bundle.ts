import fs from 'node:fs';
import path from 'node:path';
import { build, stop } from 'esbuild';
import { repositoryRoot } from '../support/repository';

/** Bundles the in-host tests, each file by itself, and resolves to the path that VS Code loads as the suite. */
export async function bundleEditorTests(): Promise<string> {
  const source = path.join(repositoryRoot(), 'test/editor');
  const target = path.join(repositoryRoot(), 'out/test/editor');
  fs.rmSync(target, { recursive: true, force: true });
  const tests = fs.readdirSync(source).filter((name) => name.endsWith('.test.ts'));
  await build({
    entryPoints: ['index.ts', ...tests].map((name) => path.join(source, name)),
    outdir: target,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  // Its service would count as a process that the tests left behind.
  await stop();
  return path.join(target, 'index.js');
}

/** Builds the extension that uses Holdfast's API, and resolves to its folder. */
export async function bundleSampleExtension(): Promise<string> {
  const source = path.join(repositoryRoot(), 'test/support/sampleExtension');
  const target = path.join(repositoryRoot(), 'out/test/sampleExtension');
  fs.rmSync(target, { recursive: true, force: true });
  await build({
    entryPoints: [path.join(source, 'extension.ts')],
    outfile: path.join(target, 'extension.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
    logLevel: 'warning',
  });
  await stop();
  fs.copyFileSync(path.join(source, 'manifest.json'), path.join(target, 'package.json'));
  return target;
}

/** The folder that the tests find open: they may write into it. */
export const editorWorkspaceFiles = {
  // What is left when the window is closed is looked for at once.
  '.vscode/settings.json': '{"holdfast.gracePeriodSeconds": 0}',
  'first.py': 'x = 20\nx + 1\n',
} as const;
