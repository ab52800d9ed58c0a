import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type TemporaryWorkspace,
  type WorkbenchServer,
  type WorkbenchWindow,
  openWindow,
  packagedExtension,
  startServer,
  temporaryWorkspace,
} from '../support/workbench';

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;

beforeAll(async () => {
  workspace = temporaryWorkspace({ 'first.py': 'x = 20\nx + 1\n' });
  server = await startServer({ extensions: [packagedExtension()] });
  window = await openWindow(server, workspace.folder);
});

afterAll(async () => {
  await server.stop();
  workspace.remove();
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
