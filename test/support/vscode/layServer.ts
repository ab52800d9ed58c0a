import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { layFolder } from './layFolder';
import { npm } from './npm';
import { pinned } from './pinned';
import { placeStandIns } from './standIns';
import { enforceProposals } from './strictProposals';

/** Lays the VS Code server and resolves to its folder (the one with `out/server-main.js`). */
export async function layServer(cache: string, say: (line: string) => void): Promise<string> {
  const { version } = pinned.codeServer;
  const folder = path.join(cache, `vscode-server-${version}-${pinned.recipe}`);
  await layFolder(folder, async (unfinished) => {
    say(`VS Code (out of code-server ${version}), about half a minute`);
    await unpackServer(unfinished);
    dropUnusedDependencies(unfinished);
    // The package carries an npm-shrinkwrap.json: versions below are its own pins.
    await npm(['install', '--omit=dev'], unfinished);
    placeStandIns(unfinished);
    removeOtherPlatforms(unfinished);
    enforceProposals(unfinished);
  });
  return folder;
}

async function unpackServer(folder: string): Promise<void> {
  const { version, integrity } = pinned.codeServer;
  await npm(['pack', `code-server@${version}`, '--pack-destination', folder], folder);
  const archive = path.join(folder, `code-server-${version}.tgz`);
  const digest = crypto.createHash('sha512').update(fs.readFileSync(archive)).digest('base64');
  if (`sha512-${digest}` !== integrity) {
    throw new Error(`code-server ${version} is not the archive that was pinned: sha512-${digest}`);
  }
  execFileSync('tar', ['xzf', archive, '--strip-components=3', 'package/lib/vscode'], {
    cwd: folder,
  });
  fs.rmSync(archive);
}

/** Needed for signing in, for containers and for Windows, and big or in want of a compiler. */
const unusedDependencies = [
  '@devcontainers/cli',
  '@github/copilot-sdk',
  '@microsoft/mxc-sdk',
  '@vscode/copilot-api',
  '@vscode/native-watchdog',
  '@vscode/sandbox-runtime',
  '@vscode/sqlite3',
  '@vscode/windows-process-tree',
  '@vscode/windows-registry',
  'kerberos',
  'node-addon-api',
  'ssh2',
];

function dropUnusedDependencies(folder: string): void {
  const file = path.join(folder, 'package.json');
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as {
    dependencies: Record<string, string>;
    overrides?: unknown;
  };
  for (const name of unusedDependencies) delete manifest.dependencies[name];
  delete manifest.overrides;
  fs.writeFileSync(file, JSON.stringify(manifest, null, 2));
}

function removeOtherPlatforms(folder: string): void {
  const ours = `${process.platform}-${process.arch}`;
  const modules = path.join(folder, 'node_modules');
  for (const store of ['node-pty/prebuilds', '@vscode/ripgrep-universal/bin']) {
    const prebuilt = path.join(modules, store);
    if (!fs.existsSync(prebuilt)) continue;
    for (const name of fs.readdirSync(prebuilt)) {
      if (!/^(darwin|linux|win32)/.test(name) || name.startsWith(ours)) continue;
      fs.rmSync(path.join(prebuilt, name), { recursive: true });
    }
  }
  fs.rmSync(path.join(modules, 'node-pty/third_party'), { recursive: true, force: true });
}
