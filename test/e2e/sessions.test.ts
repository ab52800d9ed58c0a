import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until';
import {
  openWindow,
  type ServerOptions,
  type TemporaryWorkspace,
  type Theme,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { type Workbench, workbenchForTests } from '../support/workbench/forTests';
import { immortalPython, unprivileged, whyNotImmortal } from '../support/workbench/immortal';

// What the Sessions tree says about kernels in trouble, with real kernels. Each test goes on where the one before it ended.

const files = {
  'quick.py': 'x = 20\nx + 1\n',
  'deaf.py': `import os, signal, time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf:", os.getpid(), flush=True)

while True:
    try:
        time.sleep(0.05)
    except KeyboardInterrupt:
        pass
`,
  'prelude.py': `# Category: Numbers
def double(n):
    """Twice as much."""
    return 2 * n
`,
  'broken.py': 'nothing_of_that_name\n',
};

const patienceMs = 20_000;
const themes: readonly Theme[] = ['light', 'dark', 'hcDark', 'hcLight'];

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;

async function begin(workbench: Workbench, options?: ServerOptions): Promise<void> {
  workspace = workbench.folder(files);
  // A server that runs as another user looks into it.
  fs.chmodSync(workspace.folder, 0o755);
  server = await workbench.startServer(options);
  window = await openWindow(server, workspace.folder);
  await window.tree.open();
}

/** Pid of the only kernel that the tree shows. */
async function kernelPid(): Promise<number> {
  const row = window.tree.row(/Process \d+/).filter({ hasText: 'up' });
  const text = await row.locator('.label-name').innerText();
  const [, pid] = /Process (\d+)/.exec(text) ?? [];
  return Number(pid);
}

const isRunning = (pid: number): boolean => server.processes().some((each) => each.pid === pid);

const configure = (name: string, value: unknown): Promise<void> =>
  window.evaluate(
    async (api, [key, to]: [string, unknown]) =>
      api.workspace.getConfiguration('holdfast').update(key, to, api.ConfigurationTarget.Global),
    [name, value],
  );

async function runWholeFile(name: string): Promise<void> {
  await window.openFile(name);
  await window.runCommand('Holdfast: Run File');
}

/** Runs what heeds nothing, and resolves to its process when it has come to that. */
async function runDeaf(): Promise<number> {
  await runWholeFile('deaf.py');
  await window.tree.session('running').waitFor();
  const pid = await kernelPid();
  await window.panel().getByText(`deaf: ${pid}`, { exact: true }).waitFor();
  return pid;
}

async function chooseInMenu(session: RegExp | string, entry: string): Promise<void> {
  await window.tree.session(session).click({ button: 'right' });
  await window.page.getByRole('menuitem', { name: entry, exact: true }).hover();
  await window.page.locator('.action-item.focused', { hasText: entry }).waitFor();
  // A click would be lost in a menu's first 100 ms, in which it takes none.
  await window.page.keyboard.press('Enter');
}

/** A picture of the tree in each theme, for a person to look at. */
async function pictures(name: string): Promise<void> {
  // Away from rows and buttons, which look different under the pointer.
  await window.page.mouse.move(640, 400);
  for (const theme of themes) {
    await window.setTheme(theme);
    await window.screenshot(`sessions-${name}-${theme}`);
  }
  await window.setTheme('dark');
}

const noSession = (): Promise<void> => window.page.getByText('No session yet').first().waitFor();

describe('sessions in trouble', () => {
  workbenchForTests((workbench) => begin(workbench));

  test('a busy kernel that ignores SIGTERM: the steps of its stop are seen, and its end is confirmed', async () => {
    const pid = await runDeaf();
    await window.tree
      .row(/running \d+ s/)
      .first()
      .waitFor();
    await chooseInMenu('running', 'Stop');
    await window.tree.row('Stopping: interrupted').first().waitFor();
    await window.tree.row('Stopping: sent SIGTERM').first().waitFor();
    await window.tree
      .row(/next step in \d s/)
      .first()
      .waitFor();
    await window.screenshot('sessions-stopping');
    await noSession();
    await window.panel().getByText('its end is confirmed').waitFor();
    expect(isRunning(pid)).toBe(false);
  });

  test('a kernel that was stopped with SIGSTOP: the kill is confirmed', async () => {
    await runWholeFile('quick.py');
    const idle = window.tree.session('idle');
    await idle.waitFor();
    const pid = await kernelPid();
    process.kill(pid, 'SIGSTOP');
    await window.tree.act(idle, 'Kill');
    await noSession();
    expect(isRunning(pid)).toBe(false);
  });

  test('a run that swallows the interrupt looks different, and the kill is offered', async () => {
    await runDeaf();
    await window.tree.act(window.tree.session('running'), 'Interrupt');
    await window.tree.row('interrupt not heeded').waitFor();
    await pictures('unheeded');
    await window.answer('has not heeded the interrupt', 'Kill');
    await noSession();
  });

  test('a full pool: who waits and for whom is said, and freeing the slot lets the waiting one in', async () => {
    await configure('capacity', 1);
    await runWholeFile('quick.py');
    await window.tree.row('1 of 1 kernel').waitFor();
    await window.tree.row('all slots are taken').waitFor();

    await window.runCommand('Holdfast: New Session');
    const input = window.page.locator('.quick-input-widget input.input');
    await window.page.locator('.quick-input-list').getByText('first on PATH').waitFor();
    await input.press('Enter');
    await window.page.getByText('New Session (2/2)').waitFor();
    await input.fill('lab');
    await input.press('Enter');

    const folder = workspace.folder.split('/').at(-1) ?? '';
    await window.tree.row('1 waiting for a slot').waitFor();
    await window.tree.row(new RegExp(`lab waits.*for ${folder}`)).waitFor();
    await window.statusBarItem(/waits for a slot/).waitFor();
    await pictures('full');
    expect(kernels()).toBe(1);

    await window.answer('lab waits for a kernel slot', 'Free a Slot…');
    await window.page.locator('.quick-input-list').getByText(folder).first().waitFor();
    await window.page.keyboard.press('Enter');
    await window.tree.session(/lab.*idle/).waitFor();
    await window.tree.session(folder).waitFor({ state: 'hidden' });
    expect(kernels()).toBe(1);
    await window.screenshot('sessions-freed');
  });

  test('a session is renamed, and one beside it waits until there is room for two', async () => {
    // By the keyboard: to the view, to the session's row, and its menu.
    await window.evaluate((api) => api.commands.executeCommand('holdfast.sessions.focus'));
    await window.page.keyboard.press('Home');
    await window.page.keyboard.press('ArrowDown');
    await window.page.keyboard.press('Shift+F10');
    const rename = window.page.getByRole('menuitem', { name: 'Rename…', exact: true });
    await expect.poll(() => rename.count(), { timeout: patienceMs }).toBe(1);
    const focused = window.page.locator('.action-item.focused', { hasText: 'Rename…' });
    await expect
      .poll(async () => {
        await window.page.keyboard.press('ArrowUp');
        return focused.count();
      })
      .toBe(1);
    await window.page.keyboard.press('Enter');
    const input = window.page.locator('.quick-input-widget input.input');
    await window.page.getByText('Rename lab').waitFor();
    await input.fill('bench');
    await input.press('Enter');
    await window.tree.session(/bench.*idle/).waitFor();

    await chooseInMenu(/bench.*idle/, 'New Session Beside…');
    await window.page.getByText('New Session Beside bench').waitFor();
    await input.press('Enter');
    await window.tree.row(/bench 2 waits/).waitFor();
    await configure('capacity', 2);
    await window.tree.session(/bench 2.*idle/).waitFor();
    await window.tree.row('2 of 2 kernels').waitFor();
  });

  test('a prelude runs in a new session: its helpers are listed, and an error in it is told', async () => {
    await configure('python.prelude', ['prelude.py', 'broken.py']);
    await window.runCommand('Holdfast: Restart');
    await window.runCommand('Holdfast: Show Panel');
    await window.panel().getByText('broken.py ended with NameError').waitFor();
    await window.openFile('quick.py');
    await window.runCommand('Holdfast: Show Helpers');
    const list = window.page.locator('.quick-input-list');
    await list.getByText('double', { exact: true }).waitFor();
    await list.getByText('Twice as much.').waitFor();
    await window.screenshot('sessions-helpers');
    await window.page.keyboard.press('Enter');
    await expect
      .poll(() => window.evaluate((api) => api.window.activeTextEditor?.document.getText()), {
        timeout: patienceMs,
      })
      .toContain('double()');
    await window.evaluate((api) => api.commands.executeCommand('workbench.action.files.revert'));
  });

  test('this window lets go of a session, and with its last owner it goes', async () => {
    const before = kernels();
    await window.tree.act(window.tree.row('This window').first(), 'Release');
    await expect.poll(kernels, { timeout: patienceMs }).toBe(before - 1);
  });
});

const obstacle = whyNotImmortal();

describe.skipIf(obstacle !== undefined)(
  `a kernel that can't be killed${obstacle === undefined ? '' : ` (${obstacle})`}`,
  () => {
    let pid: number;

    workbenchForTests((workbench) =>
      begin(workbench, {
        settings: { 'holdfast.retryIntervalSeconds': 60 },
        machineSettings: {
          'holdfast.python.interpreter': immortalPython(workbench.folder({}).folder),
        },
        user: unprivileged,
      }),
    );

    test('stays in the tree with reason, attempt and next try', async () => {
      pid = await runDeaf();
      await window.tree.act(window.tree.session('running'), 'Kill');
      await window.tree.session('stop not confirmed').waitFor();
      await window.tree
        .row(/Attempt 1 failed, next try in \d+ s.*still there after SIGKILL/)
        .waitFor();
      await window.tree.row('1 of 4 kernels').waitFor();
      await window.statusBarItem(/stop not confirmed/).waitFor();
      expect(isRunning(pid)).toBe(true);
      await pictures('unconfirmed');
    });

    test('is tried again at once when told to', async () => {
      await window.tree.act(window.tree.session('stop not confirmed'), 'Retry');
      await window.tree.row(/Attempt 2 failed, next try in \d+ s/).waitFor();
      expect(isRunning(pid)).toBe(true);
    });

    test('is forgotten after saying what that means, and takes no slot any more', async () => {
      await chooseInMenu('stop not confirmed', 'Forget…');
      await window.answer(`process ${pid} may go on running`, 'Forget');
      await noSession();
      expect(isRunning(pid)).toBe(true);
    });

    test('ends by whoever may end it', async () => {
      process.kill(pid, 'SIGKILL');
      expect(await until(() => !isRunning(pid), patienceMs)).toBe(true);
    });
  },
);

function kernels(): number {
  return server.kernels().length;
}
