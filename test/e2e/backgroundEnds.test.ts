import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/until';
import {
  openWindow,
  type TemporaryWorkspace,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';
import { closeForGood, restart } from '../support/workbench/restart';

// How background runs end, and what is left of them. Each test goes on where the one before it ended.

const GRACE_SECONDS = 3;

const code = `# %% Quick
print("quick is here")

# %% Train
import time

for step in range(1, 201):
    print("step", step, flush=True)
    time.sleep(0.5)

# %% With a child
import subprocess

child = subprocess.Popen(["sleep", "600"])
print("child", child.pid, flush=True)
child.wait()
`;

/** A busy machine takes its time to draw a window. */
const patience = { timeout: 60_000 };

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({ 'train.py': code, '.vscode/settings.json': settings(120) });
  server = await workbench.startServer({ args: ['--reconnection-grace-time=1'] });
  window = await openWindow(server, workspace.folder);
  await window.tree.open();
});

function settings(gracePeriodSeconds: number): string {
  return JSON.stringify({
    'holdfast.background.notify': 'always',
    'holdfast.gracePeriodSeconds': gracePeriodSeconds,
  });
}

/** Resolves when the window knows it. */
async function setGrace(seconds: number): Promise<void> {
  fs.writeFileSync(path.join(workspace.folder, '.vscode/settings.json'), settings(seconds));
  const known = (): Promise<number | undefined> =>
    window.evaluate((api) =>
      api.workspace.getConfiguration('holdfast').get<number>('gracePeriodSeconds'),
    );
  await expect.poll(known, patience).toBe(seconds);
}

async function runCell(title: string): Promise<void> {
  await window.openFile('train.py');
  await window.setCursor(code.split('\n').indexOf(`# %% ${title}`) + 1);
  await window.runCommand('Holdfast: Run Cell in Background');
}

const panelText = (text: string | RegExp): Promise<void> =>
  window.panel().getByText(text).last().waitFor();

const chosen = (): Promise<string> => window.panel().locator('.chooser option:checked').innerText();

const text = (): Promise<string> => window.panel().locator('body').innerText();

/** Brings a tab of the panel to sight by its name. */
async function choose(name: RegExp): Promise<void> {
  const chooser = window.panel().locator('.chooser');
  const option = chooser.locator('option', { hasText: name });
  await option.waitFor({ state: 'attached' });
  await chooser.selectOption((await option.getAttribute('value')) ?? '');
}

test('the end of a run is told, and its button shows what the run has put out', async () => {
  await runCell('Quick');
  await window.tree.session(/Quick.*done after/).waitFor();
  await runCell('Train');
  await panelText('step 2');
  expect(await chosen()).toContain('Train');
  await window.answer('The background run Quick is done after', 'Show Output');
  await panelText('quick is here');
  expect(await chosen()).toContain('Quick');
  await window.screenshot('backgroundEnds-1-told');
});

test(
  'a training loop of more than 60 s: peeked at, over a reload, interrupted, and found again after a restart of the editor',
  { timeout: 300_000 },
  async () => {
    await choose(/Train/);
    await panelText('step 4');
    const before = server.kernels();
    await window.reload();
    await window.tree.open();
    await window.tree.session(/Train.*running.*in the background/).waitFor(patience);
    expect(server.kernels()).toEqual(before);
    await window.runCommand('Holdfast: Show Panel');
    await choose(/Train/);
    await panelText('step 8');

    await window.tree.act(window.tree.session('Train'), 'Interrupt Background Run');
    await window.tree.session(/Train.*interrupted after/).waitFor();
    await expect.poll(() => server.kernels().length).toBe(0);

    await setGrace(0);
    window = await restart(server, window);
    await window.runCommand('Holdfast: Show Panel');
    await choose(/^Train \(until/);
    await panelText('From earlier');
    await panelText('KeyboardInterrupt');
    await window.panel().locator('.run .code-row').last().scrollIntoViewIfNeeded();
    await expect.poll(text, patience).toMatch(/^step 1\nstep 2\nstep 3\n/m);
    await panelText('A background run has its kernel to itself.');
    await window.screenshot('backgroundEnds-2-found-again');

    await window.panel().getByRole('button', { name: 'Open the full output' }).last().click();
    await window.page.locator('.tab.active', { hasText: '.txt' }).waitFor();
    const opened = (): Promise<string> =>
      window.evaluate((api) => api.window.activeTextEditor?.document.getText() ?? '');
    await expect.poll(opened, patience).toMatch(/^step 1\nstep 2\n[^]*KeyboardInterrupt/);
    await choose(/^Quick \(until/);
    await panelText('quick is here');
  },
);

test(
  'the window is closed while a run goes on: run and child are gone after the grace period, and what it said is found again',
  { timeout: 240_000 },
  async () => {
    await setGrace(GRACE_SECONDS);
    await runCell('With a child');
    const told = /^child (\d+)$/m;
    await expect.poll(text, patience).toMatch(told);
    const child = Number(told.exec(await text())?.[1]);
    const pids = [child, ...server.kernels()];
    expect(pids).toHaveLength(2);
    const alive = (): number[] =>
      server.processes().flatMap(({ pid }) => (pids.includes(pid) ? [pid] : []));
    expect(alive()).toHaveLength(2);

    await closeForGood(window);
    expect(await until(() => alive().length === 0, (GRACE_SECONDS + 5) * 1_000)).toBe(true);

    window = await openWindow(server, workspace.folder);
    await window.runCommand('Holdfast: Show Panel');
    await choose(/^With a child \(until/);
    await panelText(`child ${child}`);
    await panelText('It went on when its window closed.');
    await panelText(/s until its window closed$/);
    await window.screenshot('backgroundEnds-3-closed');
  },
);
