import { execFileSync } from 'node:child_process';
import { repositoryRoot } from '../support/repository';
import { layVsCode } from '../support/vscode/lay';
import { stagePackagedExtension } from '../support/workbench/packagedExtension';

/** Before the first workbench test: VS Code is there, and the extension is built and staged as it would be packed. */
export default async function prepare(): Promise<void> {
  execFileSync(process.execPath, ['esbuild.mjs', '--production'], {
    cwd: repositoryRoot(),
    stdio: 'inherit',
  });
  await Promise.all([layVsCode(), stagePackagedExtension()]);
}
