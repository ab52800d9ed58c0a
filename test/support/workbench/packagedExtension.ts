import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../repository';

const location = (): string => path.join(repositoryRoot(), 'out/packaged');

/** The folder with what the .vsix holds, as {@link stagePackagedExtension} left it. */
export function packagedExtension(): string {
  if (!fs.existsSync(path.join(location(), 'package.json'))) {
    throw new Error('the extension is not staged: run e2e tests by vitest or npm, which do it');
  }
  return location();
}

/** Copies the files that vsce would pack, built before by `npm run build`, to the folder that tests install. */
export async function stagePackagedExtension(): Promise<void> {
  const root = repositoryRoot();
  const files = await packedFiles(root);
  fs.rmSync(location(), { recursive: true, force: true });
  for (const file of files) fs.cpSync(path.join(root, file), path.join(location(), file));
}

const neverPacked = ['.git', '.vscode-test', 'node_modules', 'out', 'test', 'test-output'];

/** vsce looks at every file before it ignores one, which takes it 13 s with a VS Code laid in the repository. */
async function packedFiles(root: string): Promise<string[]> {
  // Loading vsce takes a second: only who stages pays for it.
  const { PackageManager, listFiles } = await import('@vscode/vsce');
  const view = fs.mkdtempSync(path.join(os.tmpdir(), 'hf-pack-'));
  try {
    for (const name of fs.readdirSync(root)) {
      if (neverPacked.includes(name)) continue;
      fs.cpSync(path.join(root, name), path.join(view, name), { recursive: true });
    }
    return await listFiles({ cwd: view, packageManager: PackageManager.None });
  } finally {
    fs.rmSync(view, { recursive: true, force: true });
  }
}
