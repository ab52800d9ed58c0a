import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { systemClock } from '../../../src/base/clock';
import { PanelFeed } from '../../../src/editor/panel/feed';
import { panelPage } from '../../../src/editor/panel/page';
import { createTranscript, type Transcript } from '../../../src/editor/panel/transcript';
import { parseFromPanel, type FromPanel } from '../../../src/webview/protocol';
import { packagedExtension } from '../workbench';
import { theme, type ThemeName } from './themes';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const ORIGIN = 'https://panel.test';

/** The real page in a plain browser, fed by a real transcript. Close the page to let go of it. */
export interface PanelHarness {
  readonly page: Page;
  readonly transcript: Transcript;
  readonly feed: PanelFeed;
  /** What the page asked of the extension, acknowledgements left out. */
  readonly requests: FromPanel[];
  /** The updates that the page said are on the screen. */
  readonly acknowledged: number[];
  /** Sends the page something that no transcript would: the text of a JavaScript expression. */
  sendRaw(expression: string): Promise<void>;
  /** Addresses that the page tried to fetch beside its own files. */
  readonly fetched: string[];
  /** Problems that the page reported: errors and refusals by its policy. */
  readonly complaints: string[];
  /** Waits until the page shows everything that the transcript has now. */
  settled(): Promise<void>;
}

export async function openPanel(
  browser: Browser,
  options: { theme?: ThemeName; width?: number; height?: number; runKey?: string } = {},
): Promise<PanelHarness> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1000, height: options.height ?? 620 },
    deviceScaleFactor: 1.5,
    serviceWorkers: 'block',
  });
  const page = await context.newPage();
  const requests: FromPanel[] = [];
  const fetched: string[] = [];
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.route('**/*', async (route) => {
    const url = new URL(route.request().url());
    const own = url.origin === ORIGIN ? url.pathname : '';
    if (own === '/') {
      await route.fulfill({ contentType: 'text/html', body: html(options.theme ?? 'dark') });
    } else if (own.startsWith('/dist/') || own.startsWith('/media/')) {
      const contentType = own.endsWith('.css') ? 'text/css' : 'text/javascript';
      await route.fulfill({ contentType, body: await readFile(join(packagedExtension(), own)) });
    } else {
      fetched.push(url.href);
      await route.abort();
    }
  });

  const transcript = createTranscript();
  const acknowledged: number[] = [];
  let posted = 0;
  let onAcknowledged = (): void => undefined;
  const feed = new PanelFeed({
    transcript,
    clock: systemClock,
    runKey: options.runKey ?? 'Shift+Enter',
    post: (update) => {
      posted = update.seq;
      page
        .evaluate(`postMessage(${JSON.stringify(update)}, '*')`)
        .catch((error: unknown) => complaints.push(String(error)));
    },
  });
  await page.exposeFunction('toExtension', (message: unknown) => {
    const request = parseFromPanel(message);
    if (request === undefined) complaints.push(`not understood: ${JSON.stringify(message)}`);
    else if (request.type === 'ready') feed.connect();
    else if (request.type === 'ack') {
      acknowledged.push(request.seq);
      feed.acknowledge(request.seq);
      onAcknowledged();
    } else {
      requests.push(request);
      if (request.type === 'answer') transcript.answer(request.ask, request.text);
      if (request.type === 'show') feed.show(request.sessionKey);
      if (request.type === 'clear') transcript.clear(request.sessionKey);
    }
  });
  await page.addInitScript({ path: join(root, 'test/support/panelHarness/stubVsCode.js') });
  page.on('close', () => feed.dispose());
  await page.goto(`${ORIGIN}/`);

  const settled = (): Promise<void> =>
    new Promise((resolve) => {
      onAcknowledged = () => {
        if ((acknowledged.at(-1) ?? 0) !== posted || feed.isDirty) return;
        onAcknowledged = () => undefined;
        resolve();
      };
      onAcknowledged();
    });
  const sendRaw = async (expression: string): Promise<void> => {
    await page.evaluate(`postMessage(${expression}, '*')`);
  };
  return { page, transcript, feed, requests, acknowledged, sendRaw, fetched, complaints, settled };
}

function html(name: ThemeName): string {
  const { bodyClass, variables, background } = theme(name);
  const page = panelPage({
    nonce: 'bm9uY2U=',
    cspSource: ORIGIN,
    asset: (path) => `${ORIGIN}/${path}`,
  });
  // What the editor adds to every webview's page.
  const style = `<style>:root { ${variables} } body { background: ${background}; padding: 0 20px; }
:root { scrollbar-color: var(--vscode-scrollbarSlider-background) transparent; }</style>`;
  return page.replace('<head>', `<head>${style}`).replace('<body>', `<body class="${bodyClass}">`);
}
