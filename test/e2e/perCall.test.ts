import { expect, test } from 'vitest';
import { until } from '../support/until';
import { openWindow, type WorkbenchServer, type WorkbenchWindow } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// Runs in kernels of their own: no session retains them, but whoever looks for what runs finds them, and can stop them.

const loop = 'import time\nwhile True:\n    time.sleep(0.1)\n';

let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  const workspace = workbench.folder({ 'loop.py': loop, 'sum.py': '20 + 1\n' });
  server = await workbench.startServer({
    settings: { 'holdfast.kernelMode': 'per-call' },
  });
  window = await openWindow(server, workspace.folder);
});

function kernels(): number {
  return server.kernels().length;
}

async function runFile(name: string): Promise<void> {
  await window.openFile(name);
  await window.runCommand('Holdfast: Run File');
}

test('a run in a kernel of its own shows its result, and leaves neither session nor process', async () => {
  await runFile('sum.py');
  await window.panel().getByText('21', { exact: true }).waitFor();
  await window.tree.open();
  await window.page.getByText('No session yet').first().waitFor();
  expect(await until(() => kernels() === 0, 15_000)).toBe(true);
});

test('one that is stuck is a row of the tree, and Kill ends it', async () => {
  await runFile('loop.py');
  await window.tree.row(/kernel of its own/).waitFor();
  await window.statusBarItem(/running/).waitFor();
  expect(kernels()).toBe(1);
  await window.screenshot('per-call-running');
  await window.runCommand('Holdfast: Kill');
  await window.page.getByText('No session yet').first().waitFor();
  expect(await until(() => kernels() === 0, 15_000)).toBe(true);
});

test('Stop All Sessions ends one too', async () => {
  await runFile('loop.py');
  await window.tree.row(/kernel of its own/).waitFor();
  await window.runCommand('Holdfast: Stop All Sessions');
  expect(await until(() => kernels() === 0, 15_000)).toBe(true);
});
