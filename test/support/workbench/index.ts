/**
 * A real VS Code for tests: a server of its own, and windows in a headless Chromium.
 *
 *     const workspace = temporaryWorkspace({ 'first.py': 'x = 20\nx + 1\n' });
 *     const server = await startServer({ extensions: [packagedExtension()] });
 *     const window = await openWindow(server, workspace.folder);
 *     await window.openFile('first.py');
 *     await window.selectLines(1, 2);
 *     await window.runCommand('Holdfast: Run Selection or Line');
 *     await window.panel().getByText('21', { exact: true }).waitFor();
 *     await window.tree.open();
 *     await window.tree.row('first.py').waitFor();
 *     await window.screenshot('first-run');
 *     await window.close();                      // as a person closes the tab: the extension host ends
 *     await server.stop();                       // resolves to processes that had to be killed: expect []
 *
 * Tests begin with `workbenchForTests` of ./forTests, which ends all of it after the last of them. It is not exported here,
 * as this driver needs no vitest.
 *
 * `window.evaluate((vscode) => …)` runs a function inside the extension host; it closes over nothing, arguments go in as
 * the second parameter (JSON). `server.processes()` lists all that came of the server, orphans included.
 * `packagedExtension()` holds exactly the files of the .vsix, installed: its extension host is restarted after a crash.
 */
export { type Theme } from './themes';
export { chatOf, chatOptions, type WorkbenchChat } from './chat';
export { packagedExtension, packagedExtensionWith } from './packagedExtension';
export type { ControlledHost, RemoteControl } from './remoteControl';
export { type ServerOptions, type WorkbenchServer, startServer } from './server';
export { type HoldfastTree, type WindowOptions, type WorkbenchWindow, openWindow } from './window';
export { type TemporaryWorkspace, temporaryWorkspace } from './workspace';
