import fs from 'node:fs';
import path from 'node:path';

/** The absolute path of this repository, found upwards from the current folder. Throws outside of it. */
export function repositoryRoot(): string {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    if (isRepository(folder)) return folder;
    if (folder === path.dirname(folder)) {
      throw new Error(`${process.cwd()} is not inside the Holdfast repository`);
    }
  }
}

function isRepository(folder: string): boolean {
  const manifest = path.join(folder, 'package.json');
  if (!fs.existsSync(manifest)) return false;
  const { name } = JSON.parse(fs.readFileSync(manifest, 'utf8')) as { name?: unknown };
  return name === 'holdfast';
}

/** Where VS Code, its Node and the data of `npm start` live. */
export const cacheFolder = (): string => path.join(repositoryRoot(), '.vscode-test');

/** Where screenshots, reports and logs of test runs go. */
export const testOutputFolder = (): string => path.join(repositoryRoot(), 'test-output');
