import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import { createKernelHosting } from '../../src/hosting';
import { sessionEnvironment } from '../../src/kernel/environment';
import { expectGone } from '../process/support/processes';
import {
  openWindow,
  packagedExtension,
  type TemporaryWorkspace,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// What a person sees of an environment that was withheld from agents, and of what else a kernel can tell of itself.

const show = `import os
for name in ("PLANTED_API_KEY", "PLANTED_PLAIN", "FROM_FILE", "OVER", "NODE_OPTIONS"):
    print(name, "is", os.environ.get(name))
os.write(2, b"words of the process itself\\n")
`;

const planted = { PLANTED_API_KEY: 'planted-value', PLANTED_PLAIN: 'plain' };

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;
let hostPid: number;

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({
    'show.py': show,
    '.env': 'FROM_FILE=file\nOVER=file\nPLANTED_PLAIN=\n',
    '.vscode/settings.json': JSON.stringify({
      'holdfast.gracePeriodSeconds': 0,
      'holdfast.environment': { OVER: 'setting', PLANTED_NUMBER: 3 },
    }),
  });
  server = await workbench.startServer({
    env: { ...planted, NODE_OPTIONS: '--no-warnings' },
  });
  await startForAgents();
  window = await openWindow(server, workspace.folder);
  await window.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await window.tree.open();
  await window.openFile('show.py');
});

// The kernel host came of this test, not of the server, which would not wait for its end.
afterAll(async () => {
  await window.close();
  await expectGone([hostPid], 30_000);
});

/** A session that a chat alone holds, in the kernel host of a window before this one. */
async function startForAgents(): Promise<void> {
  const extension = packagedExtension();
  const hosting = createKernelHosting({
    hostScript: path.join(extension, 'dist/kernelHost.js'),
    runnersDir: path.join(extension, 'media/runners'),
    runtimeDir: path.join(server.folder, 'tmp'),
    workspace: `file://${workspace.folder}`,
    graceMs: 90_000,
    log: silentLog,
  });
  const { env, withheld } = sessionEnvironment({
    window: { PATH: process.env['PATH'], ...planted, LD_PRELOAD: '' },
    file: {},
    setting: {},
    allowedToAgents: [],
    isForPerson: false,
    isWindows: false,
    fit: (given) => given as Record<string, string>,
  });
  const place = { id: 'session-1', incarnation: 1 };
  const session = { sessionId: 'python:default', cwd: workspace.folder };
  await hosting.startKernel({
    ...session,
    ...{ language: 'python', interpreter: 'python3', env, withheld: withheld!, place },
    signal: new AbortController().signal,
  });
  hostPid = hosting.hostPid!;
  const owners = [{ id: 'chat:one', kind: 'explicit' }];
  hosting.keep('session/session-1', { ...session, ...place, owners, queue: [] });
  await hosting.leave();
}

const said = (text: string): Promise<void> => window.panel().getByText(text).last().waitFor();

test('a session of agents lists what was withheld; a person who joins is told to restart it, and then has it all', async () => {
  const row = window.tree.row('Withheld');
  await row.waitFor();
  expect(await row.innerText()).toContain('LD_PRELOAD, PLANTED_API_KEY and 1 other');
  await row.hover();
  await window.page.getByText('as only chats or other programs held it when it started').waitFor();
  await window.screenshot('environment-withheld');

  await window.runCommand('Holdfast: Run File');
  await said('PLANTED_API_KEY is None');
  await window.tree.row('Withheld, restart to have it').waitFor();
  await window.screenshot('environment-joined');

  await window.tree.session('idle').click({ button: 'right' });
  await window.page.getByRole('menuitem', { name: 'Restart', exact: true }).hover();
  await window.page.locator('.action-item.focused', { hasText: 'Restart' }).waitFor();
  await window.page.keyboard.press('Enter');
  // The list of messages closes again where it is opened before there is one.
  await window.page.locator('.statusbar .codicon-bell-dot').waitFor();
  await window.answer('is also held by Chat one', 'Restart');
  await row.waitFor({ state: 'detached' });
  await window.openFile('show.py');
  await window.runCommand('Holdfast: Run File');
  await said('PLANTED_API_KEY is planted-value');
  await said('FROM_FILE is file');
  await said('OVER is setting');
  await said('NODE_OPTIONS is None');
  await window.panel().getByText('has an entry that cannot be used, "PLANTED_NUMBER"').waitFor();
});

test('diagnostics tell of session, ledger and changed settings, and have no value and no code', async () => {
  await window.runCommand('Holdfast: Copy Diagnostics');
  await window.statusBarItem('diagnostics copied').waitFor();
  const text = await window.evaluate(async (api) => api.env.clipboard.readText());
  expect(text).toMatch(/Holdfast \d+\.\d+\.\d+\n/);
  expect(text).toMatch(/session-1: python, idle; .* held by 1 chat, 1 this window;/);
  expect(text).toMatch(/process \d+; started at .*; living; this window's; .* 1 kernel/);
  expect(text).toMatch(/\n {2}- process \d+, started at .*: alive/);
  expect(text).toContain('holdfast.environment: 1: OVER');
  expect(text).toMatch(/Last stops\n- .* session-1, process \d+: over after/);
  expect(text).not.toMatch(/planted-value|setting"|os\.environ|words of the process/);
});

test("a kernel's own stderr opens as a document that cannot be changed", async () => {
  await window.tree.session('idle').click({ button: 'right' });
  await window.page.getByRole('menuitem', { name: "Show Kernel's Stderr" }).hover();
  await window.page.locator('.action-item.focused', { hasText: 'Stderr' }).waitFor();
  await window.page.keyboard.press('Enter');
  await window.editor().getByText('words of the process itself').waitFor();
  await window.screenshot('environment-stderr');
});
