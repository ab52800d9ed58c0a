import type { CodeLens } from 'vscode';
import { expect, test } from 'vitest';
import { openWindow, type WorkbenchServer, type WorkbenchWindow } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// A training loop of minutes in the background: peeked at, over a reload, interrupted. Each test goes on where the one
// before it ended.

const code = `# %% Train
import time

for step in range(1, 601):
    print("step", step, flush=True)
    time.sleep(0.5)

# %% Quick
print("quick is here")
6 * 7

# %% Broken
1 / 0
`;

/** A busy machine takes its time to draw a window. */
const patience = { timeout: 60_000 };

let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  const workspace = workbench.folder({
    'train.py': code,
    '.vscode/settings.json': '{"holdfast.gracePeriodSeconds": 120}',
  });
  server = await workbench.startServer();
  window = await openWindow(server, workspace.folder);
  await window.openFile('train.py');
  await window.tree.open();
});

const kernels = (): number[] => server.kernels();

const panelText = (text: string | RegExp): Promise<void> =>
  window.panel().getByText(text).last().waitFor();

async function steps(): Promise<number[]> {
  const text = (await window.panel().locator('body').innerText()).split('\n');
  return text.flatMap((line) => {
    const [, step] = /^step (\d+)$/.exec(line.trim()) ?? [];
    return step === undefined ? [] : [Number(step)];
  });
}

/** As a click on the lens above the cell does: the editor may draw lenses anew just then, and takes no click meanwhile. */
async function runByLens(title: string): Promise<void> {
  const line = code.split('\n').indexOf(`# %% ${title}`);
  await window.evaluate(async (api, cell: number) => {
    const { commands, window: shown } = api;
    const uri = shown.activeTextEditor?.document.uri;
    const lenses = await commands.executeCommand<CodeLens[]>('vscode.executeCodeLensProvider', uri);
    const lens = lenses.find(({ range }) => range.start.line === cell);
    if (!lens?.command) throw new Error(`no lens above line ${cell + 1}`);
    const { command, arguments: given = [] } = lens.command;
    await commands.executeCommand(command, ...(given as unknown[]));
  }, line);
}

test('a cell runs in the background by its lens: a row and a tab of its own, beside no session', async () => {
  await runByLens('Train');
  await window.tree.session(/Train.*running.*in the background/).waitFor();
  await window.tree.row(/Running\s*\d+ s/).waitFor();
  await window.tree.row(/This window\s*holds it/).waitFor();
  await panelText('step 3');
  await window.panel().locator('.chooser').getByText('Train').waitFor({ state: 'attached' });
  expect(kernels()).toHaveLength(1);
  await window.screenshot('background-1-running');
});

test('other runs come and go meanwhile, with what they say', async () => {
  await runByLens('Quick');
  await window.tree.session(/Quick.*done after/).waitFor();
  await panelText('quick is here');
  await runByLens('Broken');
  await window.tree.session(/Broken.*failed after.*ZeroDivisionError/).waitFor();
  await window.screenshot('background-2-three');
  expect(kernels()).toHaveLength(1);
});

test(
  'the window reloads: the same process goes on, and its output has every line once',
  { timeout: 240_000 },
  async () => {
    const before = kernels();
    const { gone } = window.host();
    await window.reload();
    await gone;
    await window.tree.open();
    await window.tree.session(/Train.*running.*in the background/).waitFor(patience);
    await window.tree.session(/Quick.*done after/).waitFor();
    await window.tree.session(/Broken.*failed after.*ZeroDivisionError/).waitFor();
    expect(kernels()).toEqual(before);

    await window.tree.session('Train').click({ button: 'right' });
    const show = window.page.getByRole('menuitem', { name: 'Show Output of Background Run' });
    await show.hover();
    await window.page.locator('.action-item.focused', { hasText: 'Show Output' }).waitFor();
    await window.page.keyboard.press('Enter');
    await panelText('step 2');
    const [last = 0] = (await steps()).slice(-1);
    await panelText(`step ${last + 4}`);
    // The page holds what is near to sight.
    const seen = await steps();
    expect(seen).toEqual(seen.map((_, at) => (seen[0] ?? 0) + at));
    await window.screenshot('background-3-reloaded');
  },
);

test("the tree's action interrupts it: its end is shown, and all its output is in one file", async () => {
  await window.tree.act(window.tree.session('Train'), 'Interrupt Background Run');
  await window.tree.session(/Train.*interrupted after/).waitFor();
  await expect.poll(() => kernels().length).toBe(0);
  const seen = await steps();
  await window.screenshot('background-4-interrupted');

  await window.tree.session('Train').click({ button: 'right' });
  const open = window.page.getByRole('menuitem', { name: 'Open Full Output' });
  await open.hover();
  await window.page.locator('.action-item.focused', { hasText: 'Open Full Output' }).waitFor();
  await window.page.keyboard.press('Enter');
  await window.page.locator('.tab.active', { hasText: '.txt' }).waitFor();
  const opened = (): Promise<string> =>
    window.evaluate((api) => api.window.activeTextEditor?.document.getText() ?? '');
  // The tab is there a moment before its text.
  await expect.poll(opened).toContain('KeyboardInterrupt');
  const text = await opened();
  const written = [...text.matchAll(/^step (\d+)$/gm)].map(([, step]) => Number(step));
  expect(written).toEqual(written.map((_, at) => at + 1));
  expect(written.length).toBeGreaterThanOrEqual(seen.at(-1) ?? 0);
  await window.screenshot('background-5-output');
});

test('what is over is removed from the tree', async () => {
  await window.tree.act(window.tree.session(/Quick.*done/), 'Remove Background Run');
  await window.tree.session('Quick').waitFor({ state: 'hidden' });
  await window.tree.session('Broken').waitFor();
});
