import { type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ProcessFamily, startFamily } from '../support/processes/family';
import { repositoryRoot } from '../support/repository';
import { launchBrowser } from '../support/workbench/browser';

let home: string;
let start: ProcessFamily;

beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'hf-start-'));
});

afterEach(async () => {
  await start.end();
  fs.rmSync(home, { recursive: true, force: true });
});

test('npm start prints an address that opens the tour with Holdfast, untrusted, and Ctrl+C leaves no process', async () => {
  start = npmStart();
  const address = await addressFrom(start.child);
  expect(address.hostname).toBe('127.0.0.1');

  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(address.href);
    await page.getByRole('treeitem', { name: /README\.md/ }).waitFor({ timeout: 60_000 });
    await page.locator('.activitybar .action-label[aria-label^="Holdfast"]').waitFor();
    await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
  } finally {
    await browser.close();
  }

  const said: string[] = [];
  start.child.stdout?.setEncoding('utf8').on('data', (text: string) => said.push(text));
  expect(await endingBy('SIGINT')).toBe(0);
  // An editor's process that takes its time is ended, and named.
  expect(said.join('')).toMatch(
    /^Stopping …\n(Had to end .*\n)*Stopped\. Nothing is left running\.\n$/,
  );
  expect(start.members()).toEqual([]);
});

test('without its token the address opens nothing', async () => {
  start = npmStart();
  const address = await addressFrom(start.child);
  address.searchParams.delete('tkn');
  const response = await fetch(address);
  expect(response.status).toBe(403);
  expect(await endingBy('SIGTERM')).toBe(0);
  expect(start.members()).toEqual([]);
});

const npmStart = (): ProcessFamily =>
  startFamily(
    process.execPath,
    ['test/support/runTypeScript.mjs', 'test/support/start.ts', '--served', '--home', home],
    { cwd: repositoryRoot(), env: process.env, stdio: ['ignore', 'pipe', 'inherit'] },
  );

async function addressFrom({ stdout }: ChildProcess): Promise<URL> {
  if (stdout === null) throw new Error('no standard output');
  for await (const line of readline.createInterface({ input: stdout })) {
    const [address] = /http:\S+/.exec(line) ?? [];
    if (address !== undefined) return new URL(address);
  }
  throw new Error('it ended without printing an address');
}

async function endingBy(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => start.child.once('exit', resolve));
  start.child.stdout?.resume();
  start.child.kill(signal);
  return ended;
}
