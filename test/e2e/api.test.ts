import { expect, test } from 'vitest';
import type { HoldfastClient } from '../../src/api';
import { openWindow, type WorkbenchServer, type WorkbenchWindow } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// Another extension as an owner, as a person sees it. Each test goes on where the one before it ended.

interface Sample {
  connect(subscriptions: { dispose(): unknown }[]): HoldfastClient;
}

const SAMPLE = "Sample of Holdfast's API";

/** A busy machine takes its time to draw a window. */
const patience = { timeout: 60_000 };

let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  const workspace = workbench.folder({ 'first.py': 'x = 20\n' });
  server = await workbench.startServer({
    companions: ['remoteControl', 'sampleExtension'],
    settings: { 'holdfast.gracePeriodSeconds': 120 },
  });
  window = await openWindow(server, workspace.folder);
  await window.tree.open();
});

async function reload(): Promise<void> {
  const { gone } = window.host();
  await window.reload();
  await gone;
  await window.tree.open();
}

test('another extension holds a session by its name, over a reload too', async () => {
  await window.evaluate(async (api) => {
    const sample = await api.extensions.getExtension<Sample>('holdfast-tests.sample')?.activate();
    await sample?.connect([]).hold({ name: 'of the sample' });
  });
  await window.tree.session(/of the sample.*idle/).waitFor(patience);
  await window.tree.row(SAMPLE).filter({ hasText: 'holds it' }).waitFor();
  await window.screenshot('api-holds');
  const before = server.kernels();
  await reload();
  await window.tree.session(/of the sample.*idle/).waitFor(patience);
  await window.tree.row(SAMPLE).filter({ hasText: 'holds it' }).waitFor();
  expect(server.kernels()).toEqual(before);
});

test('what an extension holds is let go of when it is uninstalled', async () => {
  await window.evaluate((api) =>
    api.commands.executeCommand('workbench.extensions.uninstallExtension', 'holdfast-tests.sample'),
  );
  await reload();
  await window.page.getByText('No session yet').first().waitFor(patience);
  await expect.poll(() => server.kernels(), patience).toEqual([]);
});
