import { expect, test } from 'vitest';
import {
  openWindow,
  type TemporaryWorkspace,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// Two windows on one folder are gone: nobody can tell which of them a third one was, so that a person chooses.

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({
    'work.py': 'x = 1\nprint("kept:", x)\n',
    // Long enough to open three windows on a busy machine.
    '.vscode/settings.json': '{"holdfast.gracePeriodSeconds": 200}',
  });
  server = await workbench.startServer();
});

const kernels = (): number[] => server.kernels();

/** A window that has run the first line, with a kernel. */
async function windowWithKernel(): Promise<WorkbenchWindow> {
  const window = await openWindow(server, workspace.folder);
  await window.openFile('work.py');
  await window.setCursor(1);
  await window.runCommand('Holdfast: Run Selection or Line');
  await window.tree.open();
  await window.tree.session(/idle/).waitFor();
  return window;
}

/** Its kernel lives on. */
async function leave(window: WorkbenchWindow): Promise<void> {
  const host = window.host();
  await window.close();
  await host.gone;
}

async function hostsOf(
  window: WorkbenchWindow,
): Promise<ReturnType<WorkbenchWindow['tree']['row']>> {
  await window.tree.open();
  const header = window.page.locator('.part.sidebar .pane-header', {
    hasText: 'Other Kernel Hosts',
  });
  await header.waitFor();
  if ((await header.getAttribute('aria-expanded')) !== 'true') await header.click();
  return window.tree.row('1 kernel of this workspace');
}

test('one of two is adopted with its variables, the other one is stopped', async () => {
  const first = await windowWithKernel();
  const second = await windowWithKernel();
  await leave(first);
  await leave(second);
  expect(kernels()).toHaveLength(2);

  const window = await openWindow(server, workspace.folder);
  await window.openFile('work.py');
  const hosts = await hostsOf(window);
  await expect.poll(() => hosts.count(), { timeout: 20_000 }).toBe(2);
  await window.screenshot('other-hosts-1-two');
  await window.tree.act(hosts.first(), 'Adopt Kernels');
  await window.tree.session(/idle/).waitFor();
  await expect.poll(() => hosts.count(), { timeout: 20_000 }).toBe(1);
  await window.setCursor(2);
  await window.runCommand('Holdfast: Run Selection or Line');
  await window.panel().getByText('kept: 1').last().waitFor();
  expect(kernels()).toHaveLength(2);

  await window.tree.act(hosts.first(), 'Stop Kernels');
  await expect.poll(() => kernels().length, { timeout: 20_000 }).toBe(1);
  await window.screenshot('other-hosts-2-adopted');
  await window.setCursor(2);
  await window.runCommand('Holdfast: Run Selection or Line');
  await expect.poll(() => window.panel().getByText('kept: 1').count()).toBeGreaterThan(1);
  await window.close();
  // Three windows, one after the other, on a machine that may be busy.
}, 240_000);
