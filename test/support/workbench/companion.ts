import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../repository';

/** A test-only extension: a folder of `test/support` with extension.ts and manifest.json. */
export type Companion = 'remoteControl' | 'sampleExtension' | 'scriptedAgent';

/** Builds a companion into a folder of its own below `parent` and resolves to that. */
export async function buildCompanion(name: Companion, parent: string): Promise<string> {
  const source = path.join(repositoryRoot(), 'test/support', name);
  const folder = path.join(parent, name);
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
