import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Dialog } from 'playwright-core';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import { discoverHosts } from '../../src/hosting';
import { until } from '../support/until';
import { openWindow, type WorkbenchServer, type WorkbenchWindow } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// What a reload of the window leaves of a person's work: all of it.

const code = `import os, time

x = 20
for i in range(1, 51):
    print("line", i, flush=True)
    time.sleep(0.3)
    # However long the reload takes, the code is not over before it.
    while i == 40 and not os.path.exists("go-on"): time.sleep(0.05)
x + 1

print("endless")
while True: pass

import time
for i in range(1, 41):
    print("page", i, flush=True)
    time.sleep(0.3)
`;

const restarted = `import time; print("A first", flush=True); time.sleep(600)
print("B queued")
print("C in a new kernel")
`;

let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  const workspace = workbench.folder({
    'slow.py': code,
    'restarted.py': restarted,
    // A busy machine may take longer than 10 s to draw a window.
    '.vscode/settings.json': '{"holdfast.gracePeriodSeconds": 40}',
  });
  server = await workbench.startServer();
  window = await openWindow(server, workspace.folder);
  await window.openFile('slow.py');
});

const kernels = (): number[] => server.kernels();

/** As by the browser's own button. */
async function byBrowser(): Promise<void> {
  const accept = (dialog: Dialog): void => void dialog.accept();
  window.page.on('dialog', accept);
  await window.page.reload();
  window.page.off('dialog', accept);
}

async function clientsOfHosts(): Promise<string[]> {
  const runtimeDir = path.join(server.folder, 'tmp');
  const hosts = await discoverHosts({ workspace: '', runtimeDir, log: silentLog });
  return hosts.map(({ announced }) => announced.client.state);
}

function panelText(text: string): Promise<void> {
  return window.panel().getByText(text).last().waitFor();
}

test('code prints 1 to 50 over a reload: every line once, in the same process, with its end (positron 4577)', async () => {
  await window.selectLines(1, 9);
  await window.runCommand('Holdfast: Run Selection or Line');
  await window.tree.open();
  await window.tree
    .row(/running \d+ s/)
    .first()
    .waitFor();
  await panelText('line 5');
  const before = kernels();
  expect(before).toHaveLength(1);

  await window.reload();
  await window.runCommand('Holdfast: Show Panel');
  await window.tree.open();
  await window.tree
    .row(/running \d+ s/)
    .first()
    .waitFor();
  await window.screenshot('reload-1-running');
  expect(kernels()).toEqual(before);
  writeFileSync(path.join(window.folder, 'go-on'), '');
  await window.panel().getByText('21', { exact: true }).last().waitFor({ timeout: 30_000 });

  const text = (await window.panel().locator('body').innerText()).split('\n');
  const lines = text.map((line) => /^line (\d+)$/.exec(line.trim())?.[1]).filter(Boolean);
  expect(lines.map(Number)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  await window.tree.row('This window').waitFor();
  await window.screenshot('reload-2-over');
});

test('an endless loop over a reload: interrupt and kill are still there and work (positron 8041)', async () => {
  await window.openFile('slow.py');
  await window.selectLines(11, 12);
  await window.runCommand('Holdfast: Run Selection or Line');
  await panelText('endless');
  await window.reload();
  await window.tree.open();
  const running = window.tree.row('running · Python').first();
  await running.waitFor();
  // The host that was taken up is this window’s own again.
  expect(await window.page.getByText('Other Kernel Hosts').count()).toBe(0);
  await window.tree.act(running, 'Interrupt');
  await expect.poll(() => window.tree.row(/idle/).count()).toBe(1);
  await window.runCommand('Holdfast: Show Panel');
  await panelText('KeyboardInterrupt');
});

test('the page is reloaded while code prints: the same, every line once', async () => {
  await window.openFile('slow.py');
  await window.selectLines(14, 17);
  await window.runCommand('Holdfast: Run Selection or Line');
  await panelText('page 5');
  const before = kernels();

  await window.reload(byBrowser);
  await window.runCommand('Holdfast: Show Panel');
  await panelText('page 40');
  expect(kernels()).toEqual(before);
  const text = (await window.panel().locator('body').innerText()).split('\n');
  const lines = text.map((line) => /^page (\d+)$/.exec(line.trim())?.[1]).filter(Boolean);
  expect(lines.map(Number)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
});

test('a window with no Python file and no view of ours in sight finds its code again over a reload', async () => {
  await window.openFile('slow.py');
  await window.selectLines(11, 12);
  await window.runCommand('Holdfast: Run Selection or Line');
  await panelText('endless');
  const before = kernels();
  await window.runCommand('View: Close All Editors');
  await window.runCommand('View: Hide Panel');
  await window.runCommand('View: Show Explorer');

  const { gone } = window.host();
  await window.reload();
  await gone;
  await expect.poll(clientsOfHosts, { timeout: 20_000 }).toEqual(['attached']);
  expect(kernels()).toEqual(before);
  await window.screenshot('reload-3-nothing-in-sight');
  await window.runCommand('Holdfast: Show Panel');
  await panelText('endless');
  await window.runCommand('Holdfast: Interrupt');
  await panelText('KeyboardInterrupt');
});

/** The session with its state, and its transcript. */
async function shownInPanel(): Promise<string> {
  const parts = [window.panel().locator('header'), window.panel().getByRole('log')];
  return (await Promise.all(parts.map((part) => part.innerText()))).join('\n');
}

async function runLine(line: number): Promise<void> {
  await window.selectLines(line, line);
  await window.runCommand('Holdfast: Run Selection or Line');
}

test('a restart with code in the queue: the panel is the same after a reload, with all that it says and when', async () => {
  await window.openFile('restarted.py');
  await runLine(1);
  await window.panel().getByText('A first', { exact: true }).waitFor();
  await runLine(2);
  await window.panel().getByText('print("B queued")').last().waitFor();
  await window.runCommand('Holdfast: Restart');
  await panelText('Kernel restarted');
  await runLine(3);
  await window.panel().getByText('C in a new kernel', { exact: true }).waitFor();
  await panelText('New kernel');
  await window.panel().getByText('Idle', { exact: true }).waitFor();
  const before = await shownInPanel();
  const order = ['A first', 'print("B queued")', 'Kernel restarted', 'print("C in'];
  const places = order.map((part) => before.lastIndexOf(part));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(before).not.toContain('Earlier, until');

  await window.reload();
  await window.runCommand('Holdfast: Show Panel');
  await panelText('Kernel restarted');
  await expect.poll(shownInPanel, { timeout: 20_000 }).toBe(before);
  await window.screenshot('reload-4-restarted');
});

test('a session that was stopped has ended after a reload too, and there is nothing to interrupt', async () => {
  await window.runCommand('Holdfast: Stop');
  await panelText('its end is confirmed');
  await window.panel().getByText('Ended', { exact: true }).waitFor();
  const before = await shownInPanel();
  await window.reload();
  await window.runCommand('Holdfast: Show Panel');
  await panelText('its end is confirmed');
  await expect.poll(shownInPanel, { timeout: 20_000 }).toBe(before);
  const interrupt = window.panel().getByRole('button', { name: 'Interrupt what runs' });
  expect(await interrupt.isDisabled()).toBe(true);
  await window.screenshot('reload-5-stopped');
});

test('and when the window stays away everything is gone after the grace period (vscode-jupyter 5485, 1626)', async () => {
  const graceSeconds = 5;
  await window.evaluate(
    async (api, seconds: number) =>
      api.workspace
        .getConfiguration('holdfast')
        .update('gracePeriodSeconds', seconds, api.ConfigurationTarget.Workspace),
    graceSeconds,
  );
  const host = window.host();
  await window.close();
  await host.gone;
  expect(await until(() => kernels().length === 0, (graceSeconds + 5) * 1_000)).toBe(true);
  expect(await server.stop()).toEqual([]);
});
