import { type Browser, chromium } from 'playwright-core';
import { findChromium, howToGetChromium } from '../vscode/chromium';

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(howToGetChromium);
  return chromium.launch({
    executablePath,
    // Chromium's sandbox refuses to start as root, and the only pages here are our own.
    chromiumSandbox: false,
    args: [
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-gpu',
      '--disable-quic',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}
