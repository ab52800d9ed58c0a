import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  openWindow,
  type TemporaryWorkspace,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// A run with capture, as a person sees it. Each test goes on where the one before it ended.

const patience = { timeout: 60_000 };

const report = `import pathlib

pathlib.Path("report.md").write_text("# Report\\n\\nrows: 2\\n")
pathlib.Path("rows.csv").write_text("a,b\\n1,2\\n")
pathlib.Path("draft.md").unlink()
pathlib.Path("build").mkdir()
pathlib.Path("build/cache.bin").write_text("ignored")
`;

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;

const file = (name: string): string => path.join(workspace.folder, name);

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({
    'train.py': 'import os, time\nwhile not os.path.exists("go"):\n    time.sleep(0.05)\n',
    'report.py': report,
    'report.md': '# Report\n\nrows: 1\n',
    'draft.md': 'a draft\n',
    '.gitignore': 'build/\n',
  });
  server = await workbench.startServer();
  window = await openWindow(server, workspace.folder);
  await window.tree.open();
});

test('a capture refused while a background run goes on and admitted after', async () => {
  await window.openFile('train.py');
  await window.runCommand('Holdfast: Run File in Background');
  const training = window.tree.session(/train\.py|import os/);
  await training.filter({ hasText: 'running' }).waitFor(patience);
  await window.openFile('report.py');
  await window.runCommand('Holdfast: Run with Capture');
  const refusal =
    "A run with capture can't begin while background runs go on. Try again when that is over. (capture_busy)";
  await expect.poll(() => window.notifications(), patience).toContain(refusal);
  await window.evaluate((api) => api.commands.executeCommand('notifications.showList'));
  await window.screenshot('capture-1-refused');
  await window.answer(refusal, 'Show Sessions');
  expect(fs.existsSync(file('rows.csv'))).toBe(false);
  await training.filter({ hasText: 'running' }).waitFor();

  fs.writeFileSync(file('go'), '');
  await training.filter({ hasText: 'done after' }).waitFor(patience);
  await window.runCommand('Holdfast: Run with Capture');
  const end = 'The run is over: 3 files (1 created, 1 changed, 1 deleted).';
  await expect.poll(() => window.notifications(), patience).toContain(end);
  const line = 'Captured: 3 files (1 created, 1 changed, 1 deleted), see Show Captured Changes';
  await window.panel().getByText(line).waitFor();
  await window.answer(end, 'Show Changes');
});

test('the changed files of a capture are listed, without ignored ones, and the diff is a click away', async () => {
  const list = window.page.locator('.quick-input-list .monaco-list-row');
  const changed = async (): Promise<string[][]> =>
    Promise.all(
      (await list.all()).map(async (row) => [
        (await row.locator('.label-name').innerText()).trim(),
        await row.locator('.label-description').innerText(),
      ]),
    );
  await expect.poll(changed, patience).toEqual([
    ['draft.md', 'deleted'],
    ['report.md', 'changed'],
    ['rows.csv', 'created'],
  ]);
  await window.screenshot('capture-2-files');
  await list.filter({ hasText: 'report.md' }).click();
  await window.page.locator('.tab.active', { hasText: 'report.md (changed by a run)' }).waitFor();
  const sides = window.page.locator('.monaco-diff-editor .view-lines:visible');
  await sides
    .filter({ hasText: /rows:\s1/ })
    .first()
    .waitFor();
  await sides
    .filter({ hasText: /rows:\s2/ })
    .first()
    .waitFor();
  await window.screenshot('capture-3-diff');
});

test('a capture is found again later by what was run, and by whom', async () => {
  await window.runCommand('Holdfast: Show Captured Changes');
  const list = window.page.locator('.quick-input-list .monaco-list-row');
  const folder = path.basename(workspace.folder);
  await list
    .filter({ hasText: /import pathlib.*1 created, 1 changed, 1 deleted/s })
    .filter({ hasText: `${folder} · report.py:1` })
    .waitFor();
  await window.screenshot('capture-4-captures');
  const kept = fs
    .readdirSync(server.folder, { recursive: true, encoding: 'utf8' })
    .find((name) => path.basename(name) === 'capture.json');
  const record: unknown = JSON.parse(fs.readFileSync(path.join(server.folder, kept ?? ''), 'utf8'));
  expect(record).toMatchObject({
    code: report.trimEnd(),
    session: { label: folder, id: expect.any(String) as string, incarnation: 1 },
    exitCode: 0,
  });
  await window.page.keyboard.press('Escape');
});
