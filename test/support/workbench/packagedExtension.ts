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

/**
 * A copy in the folder `copy` whose manifest asks for proposed API, which a marketplace takes from nobody: for editors that
 * grant it, as `--enable-proposed-api=holdfast.holdfast` does.
 */
export function packagedExtensionWith(
  enabledApiProposals: readonly string[],
  copy: string,
): string {
  fs.cpSync(packagedExtension(), copy, { recursive: true });
  const file = path.join(copy, 'package.json');
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
  fs.writeFileSync(file, JSON.stringify({ ...manifest, enabledApiProposals }));
  return copy;
}

/** Copies the files that vsce would pack, built before by `npm run build`, to the folder that tests install. */
export async function stagePackagedExtension(): Promise<void> {
  const root = repositoryRoot();
  const files = await packedFiles(root);
  fs.rmSync(location(), { recursive: true, force: true });
  for (const file of files) fs.cpSync(path.join(root, file), path.join(location(), file));
}

/**
 * vsce looks at every file before it ignores one, which takes long with a VS Code laid in the repository: it is shown a copy
 * with only what its ignore file lets in.
 */
async function packedFiles(root: string): Promise<string[]> {
  // Loading vsce takes a second: only who stages pays for it.
  const { PackageManager, listFiles } = await import('@vscode/vsce');
  const view = fs.mkdtempSync(path.join(os.tmpdir(), 'hf-pack-'));
  try {
    for (const name of ['.vscodeignore', ...namedIn(path.join(root, '.vscodeignore'))]) {
      fs.cpSync(path.join(root, name), path.join(view, name), { recursive: true });
    }
    return await listFiles({ cwd: view, packageManager: PackageManager.None });
  } finally {
    fs.rmSync(view, { recursive: true, force: true });
  }
}

/** The files and folders of the top level that an ignore file lets in by `!path`. */
function namedIn(ignoreFile: string): Set<string> {
  const lines = fs.readFileSync(ignoreFile, 'utf8').split('\n');
  const letIn = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  return new Set(letIn.map((line) => line.split('/')[0] ?? line));
}
