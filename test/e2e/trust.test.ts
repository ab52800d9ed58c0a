import { expect, test } from 'vitest';
import { openWindow, type WorkbenchServer, type WorkbenchWindow } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  const workspace = workbench.folder({
    'first.py': '"ran" + "!"\n',
    // What a hostile folder would bring along.
    '.vscode/settings.json': '{ "holdfast.python.interpreter": "${workspaceFolder}/trap.sh" }',
    'trap.sh': '#!/bin/sh\ntouch sprung\nexec python3 "$@"\n',
  });
  server = await workbench.startServer({
    workspaceTrust: true,
    settings: { 'security.workspace.trust.startupPrompt': 'never' },
  });
  window = await openWindow(server, workspace.folder);
});

test('in a folder that is not trusted nothing runs, and every way to run says why', async () => {
  expect(await window.evaluate((api) => api.workspace.isTrusted)).toBe(false);
  await window.openFile('first.py');
  await window.tree.open();
  await window.page.getByText('Nothing runs in a workspace that is not trusted').first().waitFor();
  for (const command of [
    'Run Selection or Line',
    'Run Line and Advance',
    'Run File',
    'New Session',
  ])
    await window.runCommand(`Holdfast: ${command}`);
  expect(await window.notifications()).toEqual([
    expect.stringContaining('runs nothing in a workspace that is not trusted'),
  ]);
  expect(await window.evaluate((api) => api.window.activeTextEditor?.selection.active.line)).toBe(
    0,
  );
  expect(
    server.processes().filter(({ command }) => /kernelHost|runner\.py|trap\.sh/.test(command)),
  ).toEqual([]);
  await window.screenshot('trust-refused');
});

test('its own choice of an interpreter does not count until then', async () => {
  expect(
    await window.evaluate((api) =>
      api.workspace.getConfiguration('holdfast').get('python.interpreter'),
    ),
  ).toBe('');
});
