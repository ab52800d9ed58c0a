import path from 'node:path';
import { build } from 'esbuild';
import { repositoryRoot } from '../../support/repository';

/** The bundle of an entry point, as the product ships it. */
export async function bundle(entry: string, outfile: string): Promise<string> {
  await build({
    entryPoints: [path.join(repositoryRoot(), entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'error',
  });
  return outfile;
}
