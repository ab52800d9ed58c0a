import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type ProcessFamily, startFamily } from '../processes/family';
import { listenForInterruption } from '../processes/interruption';
import { repositoryRoot } from '../repository';
import { until } from '../until';
import { freePort } from './freePort';
import { layVsCode } from './lay';
import { linkExtension } from './linkExtension';
import { hostEnvironment } from './hostEnvironment';

/** A browser that vanishes without a word may come back for so long; then its window counts as closed. */
const VANISHED_WINDOW_S = 60;

export interface Serving {
  /** The folder to open. */
  readonly folder: string;
  /** Where settings, trust and installed extensions live on from one time to the next. */
  readonly home: string;
  readonly say: (line: string) => void;
}

/**
 * Serves VS Code with Holdfast in it to a browser on this machine, and prints the address. Resolves to an exit code
 * after SIGINT, SIGTERM or SIGHUP (or when the server ends by itself), when nothing of it is left.
 */
export async function serveWorkbench({ folder, home, say }: Serving): Promise<number> {
  const asked = listenForInterruption();
  void asked.happened.then(() => say('Stopping …'));
  const vscode = await layVsCode((line) => say(`Laying ${line}, once …`));
  if (asked.signal.aborted) return 0;

  const extensions = prepareExtensions(home);
  writeFirstSettings(home);
  const token = writeToken(home);
  const port = await freePort();
  const log = fs.openSync(path.join(home, 'server.log'), 'w');
  // Of its own, as the server and its extensions leave sockets there.
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'hf-start-'));
  const family = startFamily(
    vscode.node,
    [
      path.join(vscode.server, 'out/server-main.js'),
      ...['--host', '127.0.0.1', '--port', String(port), '--connection-token-file', token.file],
      ...['--accept-server-license-terms', '--telemetry-level', 'off'],
      ...['--server-data-dir', path.join(home, 'server'), '--user-data-dir', home],
      ...['--extensions-dir', extensions],
      ...['--reconnection-grace-time', String(VANISHED_WINDOW_S)],
    ],
    {
      cwd: home,
      env: { ...hostEnvironment(), TMPDIR: temporary },
      stdio: ['ignore', log, log],
    },
  );
  const ended = new Promise<void>((resolve) => family.child.once('exit', () => resolve()));
  try {
    await answering(port, family, asked.signal);
    if (!asked.signal.aborted) sayWhere(say, port, token.value, folder);
    await Promise.race([ended, asked.happened]);
  } finally {
    // Long enough for kernels to go by the ladder of stops.
    const stubborn = await family.end(15_000);
    for (const { pid, command } of stubborn) say(`Had to end ${pid}: ${command}`);
    fs.rmSync(temporary, { recursive: true, force: true });
  }
  if (!asked.signal.aborted) {
    say(`The server ended by itself. Its log is ${path.join(home, 'server.log')}`);
    return 1;
  }
  say('Stopped. Nothing is left running.');
  return 0;
}

function sayWhere(say: (line: string) => void, port: number, token: string, folder: string): void {
  const address = new URL(`http://127.0.0.1:${port}/`);
  address.searchParams.set('tkn', token);
  address.searchParams.set('folder', folder);
  say('');
  say('VS Code with Holdfast is ready. Open this address in a browser on this machine:');
  say('');
  say(`  ${address.href}`);
  say('');
  say('Trust the folder first (Restricted Mode, then Trust): in an untrusted one nothing runs.');
  say('Ctrl+C here ends it, with all its kernels.');
}

async function answering(port: number, family: ProcessFamily, stop: AbortSignal): Promise<void> {
  const child = family.child;
  const settled = async (): Promise<boolean> => {
    if (child.exitCode !== null || child.signalCode !== null || stop.aborted) return true;
    return fetch(`http://127.0.0.1:${port}/version`).then(
      (response) => response.ok,
      () => false,
    );
  };
  if (!(await until(settled, 30_000))) throw new Error('the VS Code server did not answer in 30 s');
}

/** Holdfast as it stands in this repository, beside whatever the person installed earlier. */
function prepareExtensions(home: string): string {
  const extensions = path.join(home, 'extensions');
  fs.mkdirSync(extensions, { recursive: true });
  // Without its list the server looks at the folder anew, and finds the link at today's version.
  fs.rmSync(path.join(extensions, 'extensions.json'), { force: true });
  for (const name of fs.readdirSync(extensions)) {
    if (name.startsWith('holdfast.holdfast-')) fs.unlinkSync(path.join(extensions, name));
  }
  linkExtension(repositoryRoot(), extensions);
  return extensions;
}

function writeFirstSettings(home: string): void {
  const file = path.join(home, 'User/settings.json');
  if (fs.existsSync(file)) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const settings = {
    'telemetry.telemetryLevel': 'off',
    'update.mode': 'none',
    'workbench.secondarySideBar.defaultVisibility': 'hidden',
    'workbench.startupEditor': 'readme',
  };
  fs.writeFileSync(file, JSON.stringify(settings, null, 2));
}

/** In a file that others can't read, and not among the arguments, which everybody on the machine can. */
function writeToken(home: string): { file: string; value: string } {
  const file = path.join(home, 'connection-token');
  const value = crypto.randomBytes(18).toString('hex');
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, value, { mode: 0o600 });
  return { file, value };
}
