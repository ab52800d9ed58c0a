import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPanel, openBrowser, openPanel } from '../support/panelHarness/harness';
import { scene } from '../support/panelHarness/scenes';
import { themeNames } from '../support/panelHarness/themes';

const shots = join(import.meta.dirname, '../../test-output/screenshots');

let browser: Browser;

beforeAll(async () => {
  await mkdir(shots, { recursive: true });
  await buildPanel();
  browser = await openBrowser();
});

afterAll(async () => {
  await browser.close();
});

describe('the panel looks right', () => {
  it.each(themeNames)('in %s', async (theme) => {
    const { page, transcript, settled, complaints } = await openPanel(browser, {
      theme,
      height: 1000,
    });
    scene(transcript);
    await settled();
    await page.screenshot({ path: join(shots, `panel-${theme}.png`) });
    expect(complaints).toEqual([]);
    await page.close();
  });
});
