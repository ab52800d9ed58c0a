import fs from 'node:fs';
import path from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { testOutputFolder } from '../repository';
import type { ControlledHost, HostFunction } from './remoteControl';
import type { WorkbenchServer } from './server';
import { type Theme, applyTheme } from './themes';

export interface WindowOptions {
  /** CSS pixels; 1280 × 800 by default. */
  readonly size?: { readonly width: number; readonly height: number };
}

/** A window of VS Code in a browser page, with what a person does in it. Every wait is bounded and throws. */
export interface WorkbenchWindow {
  readonly page: Page;
  readonly folder: string;
  /** The extension host of this window, the newest one after a restart. */
  host(): ControlledHost;
  extensionHostPid(): number;
  /** Resolves once a new extension host has replaced the present one (after a crash or a reload). */
  nextHost(): Promise<ControlledHost>;
  /** Reloads the window, by its command or as `how` does, and resolves when it is drawn and has a new extension host. */
  reload(how?: () => Promise<unknown>): Promise<void>;
  /** Runs a function in the extension host: `evaluate((api) => api.window.activeTextEditor?.document.fileName)`. */
  evaluate<R>(body: HostFunction<undefined, R>): Promise<R>;
  evaluate<A, R>(body: HostFunction<A, R>, argument: A): Promise<R>;
  /** Picks the entry with exactly this label, such as `Holdfast: Run File`, in the command palette. */
  runCommand(title: string): Promise<void>;
  /** Opens a file of the folder and puts the focus on it. */
  openFile(name: string): Promise<void>;
  /** Places the cursor, 1-based. */
  setCursor(line: number, column?: number): Promise<void>;
  /** Selects whole lines, 1-based, both included, as by shift and arrow keys: up to the end of the last one. */
  selectLines(first: number, last: number): Promise<void>;
  /** The text that the editor shows, as far as it is scrolled into view. */
  editor(): Locator;
  readonly tree: HoldfastTree;
  /** The page inside the Holdfast panel. */
  panel(): FrameLocator;
  statusBarItem(text: string | RegExp): Locator;
  /** The messages that VS Code holds now, newest first. */
  notifications(): Promise<string[]>;
  /** Clicks a button of the message that contains `text`, once it is there. */
  answer(text: string, button: string): Promise<void>;
  setTheme(theme: Theme): Promise<void>;
  /** Writes `test-output/screenshots/<name>.png` and returns its path. */
  screenshot(name: string): Promise<string>;
  close(): Promise<void>;
}

/** The view in the side bar. */
export interface HoldfastTree {
  /** Shows the view container. */
  open(): Promise<void>;
  rows(): Locator;
  /** The rows whose text contains `text`. */
  row(text: string | RegExp): Locator;
  /** The rows of sessions whose text contains `text`, without what stands below them. */
  session(text: string | RegExp): Locator;
  /** Clicks an action that a row shows on hovering, such as `Kill`. */
  act(row: Locator, action: string): Promise<void>;
}

/** Opens `folder` (an absolute path) and resolves when the workbench is drawn and its extension host has answered. */
export async function openWindow(
  server: WorkbenchServer,
  folder: string,
  options: WindowOptions = {},
): Promise<WorkbenchWindow> {
  const browser = await server.browser();
  const viewport = options.size ?? { width: 1280, height: 800 };
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const known = server.control.hosts();
  await page.goto(addressOf(server, folder));
  await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 40_000 });
  let host = await server.control.nextHost(folder, known);

  const evaluate = async <A, R>(body: HostFunction<A, R>, argument?: A): Promise<R> =>
    host.evaluate(body, argument as A);

  const select = async (range: EditorRange): Promise<void> => {
    await evaluate(async (api, to: EditorRange) => {
      const editor = api.window.activeTextEditor;
      if (editor === undefined) throw new Error('no file is open');
      const end = to.endColumn ?? editor.document.lineAt(to.endLine - 1).text.length + 1;
      editor.selection = new api.Selection(to.line - 1, to.column - 1, to.endLine - 1, end - 1);
      await api.window.showTextDocument(editor.document, { selection: editor.selection });
    }, range);
    // The status bar shows where the renderer has the cursor: keys typed from now on find it there.
    const shown = page.locator('[id="status.editor.selection"]');
    await shown.filter({ hasText: `Ln ${range.endLine}, Col` }).waitFor();
  };

  const rows = (): Locator => page.locator('.part.sidebar .pane-body .monaco-list-row');
  const tree: HoldfastTree = {
    open: async () => {
      const entry = page.locator('.part.activitybar .action-label[aria-label^="Holdfast"]');
      const open = page.locator('.part.sidebar .composite.title', { hasText: /holdfast/i });
      await entry.waitFor();
      if (!(await open.isVisible())) await entry.click();
      await open.waitFor();
    },
    rows,
    row: (text) => rows().filter({ hasText: text }),
    // Rows of a list are drawn in any order: the first one in the page may be any of those that match.
    session: (text) => rows().and(page.locator('[aria-level="1"]')).filter({ hasText: text }),
    act: async (row, action) => {
      await row.hover();
      await row.locator(`.action-label[aria-label*="${action}"]`).click();
    },
  };

  const nextHost = async (): Promise<ControlledHost> =>
    (host = await server.control.nextHost(folder, [host]));

  const runCommand = async (title: string): Promise<void> => {
    await page.keyboard.press('F1');
    const input = page.locator('.quick-input-widget input.input');
    await input.fill(`>${title}`);
    const label = page.locator('.quick-input-list .monaco-list-row .label-name');
    await label.getByText(title, { exact: true }).first().click();
    // A command that asks something itself takes the input over.
    await input
      .and(page.locator('[placeholder^="Type the name of a command"]'))
      .waitFor({ state: 'hidden' });
  };

  return {
    page,
    folder,
    host: () => host,
    extensionHostPid: () => host.pid,
    nextHost,
    reload: async (how = () => runCommand('Developer: Reload Window')) => {
      const next = nextHost();
      await how();
      // A busy machine takes its time to draw a window.
      await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
      await next;
    },
    evaluate,
    runCommand,
    openFile: async (name) => {
      await evaluate(
        async (api, file: string) => {
          const document = await api.workspace.openTextDocument(api.Uri.file(file));
          await api.window.showTextDocument(document, { preview: false });
        },
        path.resolve(folder, name),
      );
      const tab = page.locator(`.tab.active[data-resource-name="${path.basename(name)}"]`);
      await tab.waitFor();
    },
    setCursor: async (line, column = 1) =>
      select({ line, column, endLine: line, endColumn: column }),
    selectLines: async (first, last) => select({ line: first, column: 1, endLine: last }),
    editor: () => page.locator('.editor-group-container.active .view-lines').first(),
    tree,
    panel: () =>
      page.frameLocator('iframe.webview.ready').first().frameLocator('iframe#active-frame'),
    statusBarItem: (text) =>
      page.locator('.part.statusbar .statusbar-item').filter({ hasText: text }),
    notifications: async () => {
      // The driver flag keeps toasts from popping up; the list has them all.
      await evaluate((api) => api.commands.executeCommand('notifications.showList'));
      const center = page.locator('.notifications-center');
      await center.waitFor();
      const texts = await center.locator('.notification-list-item-message').allInnerTexts();
      await evaluate((api) => api.commands.executeCommand('notifications.hideList'));
      return texts;
    },
    answer: async (text, button) => {
      await evaluate((api) => api.commands.executeCommand('notifications.showList'));
      const item = page
        .locator('.notifications-center .notification-list-item')
        .filter({ hasText: text })
        .first();
      await item.getByRole('button', { name: button, exact: true }).click();
      await evaluate((api) => api.commands.executeCommand('notifications.hideList'));
    },
    setTheme: async (theme) => applyTheme(page, host, theme),
    screenshot: async (name) => {
      const file = path.join(testOutputFolder(), 'screenshots', `${name}.png`);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      await page.screenshot({ path: file });
      return file;
    },
    close: async () => {
      // A page that is closed on a busy machine may be gone before it has said so, and would look like a browser that
      // vanished, which servers forgive for hours. One that is left for another page says so first.
      page.once('dialog', (dialog) => void dialog.accept());
      await page.goto('about:blank');
      await page.close();
      await context.close();
    },
  };
}

interface EditorRange {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** The end of the line when missing. */
  readonly endColumn?: number;
}

function addressOf(server: WorkbenchServer, folder: string): string {
  const address = new URL(server.url);
  address.searchParams.set('folder', fs.realpathSync(folder));
  return address.href;
}
