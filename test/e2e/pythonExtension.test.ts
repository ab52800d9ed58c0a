import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  openWindow,
  packagedExtension,
  type TemporaryWorkspace,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// Stands for the Python extension: the part of its interface that is used, and a command to change its choice.
const standIn = {
  'package.json': JSON.stringify({
    name: 'python',
    publisher: 'ms-python',
    version: '2024.1.0',
    engines: { vscode: '^1.95.0' },
    main: './main.js',
    activationEvents: [],
    contributes: { commands: [{ command: 'standIn.choose', title: 'Choose' }] },
  }),
  'main.js': `
const vscode = require('vscode');
exports.activate = () => {
  const changed = new vscode.EventEmitter();
  let active = process.env.STAND_IN_PYTHON;
  vscode.commands.registerCommand('standIn.choose', (next) => {
    active = next;
    changed.fire({});
  });
  return {
    environments: {
      known: [],
      getActiveEnvironmentPath: () => ({ id: active, path: active }),
      resolveEnvironment: async ({ path }) => ({
        executable: { uri: vscode.Uri.file(path + '/bin/python') },
      }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
`,
};

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;
const environment = (name: string): string => path.join(workspace.folder, name);

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({ 'which.py': 'import sys\n\nprint("runs in", sys.prefix)\n' });
  for (const name of ['one', 'two'])
    execFileSync('python3', ['-m', 'venv', '--without-pip', environment(name)]);
  server = await workbench.startServer({
    extensions: [packagedExtension(), workbench.folder(standIn).folder],
    env: { STAND_IN_PYTHON: environment('one') },
  });
  window = await openWindow(server, workspace.folder);
  await window.openFile('which.py');
  await window.tree.open();
});

test('the choice of the Python extension runs the code', async () => {
  await window.runCommand('Holdfast: Run File');
  await window
    .panel()
    .getByText(`runs in ${environment('one')}`)
    .first()
    .waitFor();
});

test('another choice means another session, and the old one stays where it can be seen', async () => {
  await window.evaluate(
    async (api, next: string) => api.commands.executeCommand('standIn.choose', next),
    environment('two'),
  );
  await window.statusBarItem('No session').waitFor();
  await window.runCommand('Holdfast: Run File');
  await window
    .panel()
    .getByText(`runs in ${environment('two')}`)
    .first()
    .waitFor();
  await expect.poll(() => window.tree.row('This window').count(), { timeout: 20_000 }).toBe(2);
});
