import fs from 'node:fs';
import path from 'node:path';
import { layFolder } from './layFolder';
import { npm } from './npm';
import { pinned } from './pinned';

/** Lays the Node that runs the VS Code server and resolves to its executable. */
export async function layNode(cache: string, say: (line: string) => void): Promise<string> {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${system}-${process.arch}`;
  const folder = path.join(cache, `node-${pinned.node.version}`);
  await layFolder(folder, async (unfinished) => {
    say(`Node ${pinned.node.version}`);
    fs.writeFileSync(path.join(unfinished, 'package.json'), '{"private":true}');
    await npm(['install', `${name}@${pinned.node.version}`], unfinished);
  });
  const executable = process.platform === 'win32' ? 'node.exe' : 'node';
  return path.join(folder, 'node_modules', name, 'bin', executable);
}
