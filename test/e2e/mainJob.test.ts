import { expect, test } from 'vitest';
import { until } from '../support/until';
import {
  openWindow,
  type TemporaryWorkspace,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// The main job as a person does it, in one window from first to last: each test goes on where the one before it ended.

const tour = `import time

x = 20
x + 1

def double(n):
    print("doubling", n)
    return 2 * n

double(x)

while True:
    try:
        time.sleep(0.1)
    except KeyboardInterrupt:
        print("not now")
`;

// What a busy machine may take for a step that is over at once on an idle one.
const patienceMs = 20_000;

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({ 'tour.py': tour });
  server = await workbench.startServer();
  window = await openWindow(server, workspace.folder);
  await window.openFile('tour.py');
});

function panelText(text: string): Promise<void> {
  return window.panel().getByText(text, { exact: true }).last().waitFor();
}

function kernels(): number {
  return server.kernels().length;
}

test('before the first run there is no session and no process of ours', async () => {
  await window.tree.open();
  await window.page.getByText('No session yet').first().waitFor();
  await window.statusBarItem('No session').waitFor();
  expect(server.processes().filter(({ command }) => command.includes('kernelHost'))).toEqual([]);
  await window.screenshot('main-1-before');
});

test('a selection runs, and the focus stays in the editor', async () => {
  await window.selectLines(1, 4);
  await window.runCommand('Holdfast: Run Selection or Line');
  await panelText('21');
  await window.page.keyboard.press('End');
  await expect
    .poll(() => window.evaluate((api) => api.window.activeTextEditor?.selection.isEmpty), {
      timeout: patienceMs,
    })
    .toBe(true);
  await window.screenshot('main-2-first-run');
});

test('the next run sees what the first one left, by the keyboard and statement by statement', async () => {
  await window.setCursor(7);
  await window.page.keyboard.press('Control+Alt+Shift+Enter');
  await expect
    .poll(() => window.evaluate((api) => api.window.activeTextEditor?.selection.active.line), {
      timeout: patienceMs,
    })
    .toBe(9);
  await window.page.keyboard.press('Control+Alt+Shift+Enter');
  await panelText('40');
  await window.screenshot('main-3-second-run');
});

test('the tree shows the session, what it is and who holds it', async () => {
  const folder = workspace.folder.split('/').at(-1) ?? '';
  await window.tree.row(folder).first().waitFor();
  await window.tree.row('This window').waitFor();
  await window.tree.row(/Process \d+/).waitFor();
  await window.tree.row(/idle/).waitFor();
  await window.statusBarItem(/Python 3\.\d+\.\d+ idle/).waitFor();
  expect(kernels()).toBe(1);
});

test('a stuck run is interrupted from the tree', async () => {
  await window.setCursor(12);
  await window.page.keyboard.press('Control+Alt+Enter');
  const running = window.tree.session('running');
  await running.waitFor();
  await window.tree.row('while True:').waitFor();
  await window.statusBarItem(/running/).waitFor();
  await window.screenshot('main-4-running');
  await window.tree.act(running, 'Interrupt');
  await panelText('not now');
});

test('and, as it swallows that, killed: the end is confirmed and its process is gone', async () => {
  await window.tree.act(window.tree.session('running'), 'Kill');
  await window.panel().getByText('its end is confirmed').waitFor();
  await window.page.getByText('No session yet').first().waitFor();
  expect(kernels()).toBe(0);
  await window.screenshot('main-5-killed');
});

test('after that a run starts anew', async () => {
  await window.setCursor(3);
  await window.page.keyboard.press('Control+Alt+Enter');
  await window.tree.row('This window').waitFor();
  await window.tree.row(/idle/).waitFor();
  expect(kernels()).toBe(1);
});

test('closing the window leaves no process behind', async () => {
  const host = window.host();
  await window.close();
  await host.gone;
  const ours = (): boolean =>
    server
      .processes()
      .some(({ command }) => command.includes('kernelHost') || command.includes('runner.py'));
  expect(await until(() => !ours(), 15_000)).toBe(true);
  expect(await server.stop()).toEqual([]);
});
