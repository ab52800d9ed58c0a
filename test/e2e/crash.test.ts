import { expect, test } from 'vitest';
import { until } from '../support/until';
import { openWindow, type WorkbenchServer, type WorkbenchWindow } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

const stuck = `import signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "600"])
subprocess.Popen(["sleep", "601"], start_new_session=True)
while True:
    pass
`;

let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  const workspace = workbench.folder({ 'stuck.py': stuck });
  server = await workbench.startServer({
    settings: { 'holdfast.gracePeriodSeconds': 0 },
  });
  window = await openWindow(server, workspace.folder);
});

function ours(): readonly string[] {
  return server
    .processes()
    .map(({ command }) => command)
    .filter((command) => /kernelHost|runner\.py|sleep 60[01]/.test(command));
}

test('the extension host is SIGKILLed under a run that ignores SIGTERM: kernel host, kernel and its children are gone (vscode-jupyter 5225, 11177)', async () => {
  await window.openFile('stuck.py');
  await window.runCommand('Holdfast: Run File');
  await window.tree.open();
  await window.tree.session('running').waitFor();
  expect(await until(() => ours().length === 4, 15_000)).toBe(true);
  process.kill(window.extensionHostPid(), 'SIGKILL');
  expect(await until(() => ours().length === 0, 15_000)).toBe(true);
});

test('and the window that goes on shows nothing stale', async () => {
  await window.nextHost();
  await window.page.getByText('No session yet').first().waitFor();
  await window.screenshot('crash-after');
});

test('the editor quits during a run: no process is left (zed 21911)', async () => {
  await window.openFile('stuck.py');
  await window.runCommand('Holdfast: Run File');
  await window.tree.open();
  await window.tree.session('running').waitFor();
  expect(await until(() => ours().length === 4, 15_000)).toBe(true);
  // Those that had to be ended by the test.
  expect(await server.stop(15_000)).toEqual([]);
});
