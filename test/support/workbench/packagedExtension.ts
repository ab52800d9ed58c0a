import fs from 'node:fs';
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
  // Loading vsce takes a second: only who stages pays for it.
  const { PackageManager, listFiles } = await import('@vscode/vsce');
  const files = await listFiles({ cwd: root, packageManager: PackageManager.None });
  fs.rmSync(location(), { recursive: true, force: true });
  for (const file of files) {
    fs.cpSync(path.join(root, file), path.join(location(), file));
  }
}
