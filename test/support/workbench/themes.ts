import type { Page } from 'playwright-core';
import type { ControlledHost } from './remoteControl';

export type Theme = 'light' | 'dark' | 'hcDark' | 'hcLight';

/** VS Code's own names, and the class that its root element has while the theme is on. */
const themes: Readonly<Record<Theme, { name: string; mark: string }>> = {
  light: { name: 'Light Modern', mark: 'vs' },
  dark: { name: 'Dark Modern', mark: 'vs-dark' },
  hcDark: { name: 'Default High Contrast', mark: 'hc-black' },
  hcLight: { name: 'Default High Contrast Light', mark: 'hc-light' },
};

export async function applyTheme(page: Page, host: ControlledHost, theme: Theme): Promise<void> {
  const { name, mark } = themes[theme];
  await host.evaluate(async (api, value: string) => {
    const workbench = api.workspace.getConfiguration('workbench');
    await workbench.update('colorTheme', value, api.ConfigurationTarget.Global);
  }, name);
  await page.locator(`.monaco-workbench.${mark}`).waitFor();
}
