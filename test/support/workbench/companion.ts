import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../repository';

/** Builds a test-only extension of `test/support` (extension.ts, manifest.json) and resolves to its folder. */
export async function buildCompanion(name: string): Promise<string> {
  const source = path.join(repositoryRoot(), 'test/support', name);
  const folder = path.join(repositoryRoot(), 'out', name);
  await build({
    entryPoints: [path.join(source, 'extension.ts')],
    outfile: path.join(folder, 'extension.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['vscode'],
    logLevel: 'warning',
  });
  fs.copyFileSync(path.join(source, 'manifest.json'), path.join(folder, 'package.json'));
  return folder;
}
