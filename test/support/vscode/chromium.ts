import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Debian's Chromium without windows, which takes a sixth less of a processor than the whole one. It is on no PATH. */
const headlessShell = {
  package: 'chromium-headless-shell',
  file: '/usr/lib/chromium/chromium-headless-shell',
};
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The browser that CHROMIUM_PATH names, else Debian's, else one on PATH. Throws when CHROMIUM_PATH names none. */
export function findChromium(): string | undefined {
  const chosen = process.env['CHROMIUM_PATH'];
  if (chosen !== undefined && chosen !== '') {
    if (!fs.existsSync(chosen)) throw new Error(`CHROMIUM_PATH is ${chosen}: no such file`);
    return chosen;
  }
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return [headlessShell.file, ...candidates].find((each) => fs.existsSync(each));
}

/** Finds Chromium, or installs it where that needs no question: on a Debian, as root or with a passwordless sudo. */
export function provideChromium(say: (line: string) => void): string | undefined {
  const found = findChromium();
  if (found !== undefined || !canInstall()) return found;
  apt('update');
  const hasShell = succeeds('apt-cache', ['show', headlessShell.package]);
  const wanted = hasShell ? headlessShell.package : 'chromium';
  say(`Chromium (apt-get install ${wanted})`);
  apt('install', '-y', '--no-install-recommends', wanted);
  return findChromium();
}

export const howToGetChromium =
  'Chromium was not found. Install it (Debian: sudo apt-get install chromium) or let CHROMIUM_PATH name a Chromium or Chrome.';

const isRoot = (): boolean => process.getuid?.() === 0;

function canInstall(): boolean {
  if (!fs.existsSync('/usr/bin/apt-get')) return false;
  return isRoot() || succeeds('sudo', ['-n', 'true']);
}

function apt(...args: string[]): void {
  const command = ['apt-get', ...args];
  const [program = '', ...rest] = isRoot() ? command : ['sudo', '-n', ...command];
  execFileSync(program, rest, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function succeeds(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
