import { expect, test } from 'vitest';
import { type WorkbenchServer, type WorkbenchWindow, openWindow } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  const workspace = workbench.folder({ 'first.py': 'x = 20\nx + 1\n' });
  server = await workbench.startServer({
    // The server forgets a window that is gone at once, and its extension host with it.
    args: ['--reconnection-grace-time=1'],
  });
  window = await openWindow(server, workspace.folder);
});

test('the packaged extension is installed, and its view container is in the activity bar', async () => {
  const found = await window.evaluate(
    (api) => api.extensions.getExtension('holdfast.holdfast')?.id,
  );
  expect(found).toBe('holdfast.holdfast');
  await window.tree.open();
  await window.screenshot('smoke-view-container');
});

test('a file opens, and lines of it can be selected', async () => {
  await window.openFile('first.py');
  await window.selectLines(1, 2);
  const selected = await window.evaluate((api) => {
    const editor = api.window.activeTextEditor;
    return editor?.document.getText(editor.selection);
  });
  expect(selected).toBe('x = 20\nx + 1');
});

test('closing the window ends its extension host and leaves no process of it behind', async () => {
  const host = window.host();
  await window.close();
  await host.gone;
  expect(await server.stop()).toEqual([]);
});
