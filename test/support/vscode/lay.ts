import fs from 'node:fs';
import { cacheFolder } from '../repository';
import { layNode } from './layNode';
import { layServer } from './layServer';

/** A VS Code that can be started: the Node to run it on, and the folder of its server. */
export interface LaidVsCode {
  readonly node: string;
  readonly server: string;
}

/** Lays what is missing into the cache folder (a registry and about 18 s; nothing to do afterwards). */
export async function layVsCode(
  say: (line: string) => void = (line) => process.stderr.write(`  laying ${line}\n`),
): Promise<LaidVsCode> {
  const cache = cacheFolder();
  fs.mkdirSync(cache, { recursive: true });
  const [node, server] = await Promise.all([layNode(cache, say), layServer(cache, say)]);
  return { node, server };
}
