import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { cacheFolder, repositoryRoot } from './repository';
import { serveWorkbench } from './vscode/serve';

// usage: npm start [-- [--served] [--home FOLDER] [FOLDER]]
// Builds Holdfast and opens a folder with it, the tour by default: in the desktop's VS Code when `code` is on PATH,
// else (or with --served) in a VS Code that this process serves to a browser until it is interrupted.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    served: { type: 'boolean', default: false },
    home: { type: 'string', default: path.join(cacheFolder(), 'user') },
  },
});
// The terminal may be gone before us; all has to end all the same.
process.stdout.on('error', () => undefined);
const folder = path.resolve(positionals[0] ?? 'examples/tour');
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

say('Building Holdfast …');
execFileSync(process.execPath, ['esbuild.mjs'], { cwd: repositoryRoot(), stdio: 'inherit' });
if (values.served || !openOnDesktop()) {
  process.exitCode = await serveWorkbench({ folder, home: path.resolve(values.home), say });
}

/** False when there is no desktop VS Code, or one that does not answer. */
function openOnDesktop(): boolean {
  const { status } = spawnSync(
    'code',
    ['--new-window', `--extensionDevelopmentPath=${repositoryRoot()}`, folder],
    { stdio: 'inherit', shell: process.platform === 'win32' },
  );
  if (status === 0) say(`Opened ${folder} in your VS Code, with Holdfast in it.`);
  return status === 0;
}
