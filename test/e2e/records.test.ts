import fs from 'node:fs';
import { expect, test } from 'vitest';
import {
  openWindow,
  type TemporaryWorkspace,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { until } from '../support/until';
import { workbenchForTests } from '../support/workbench/forTests';
import { restart } from '../support/workbench/restart';

// What a person has run is there again when the editor has been closed and comes back, until it is cleared.

// A picture of one red pixel, shown as libraries do, and words of a thread and of a child that come after the run's end.
const code = `import subprocess
import threading

print("words to be found again")
threading.Timer(1, print, ["late words of", "a thread"]).start()
child = subprocess.Popen(["sh", "-c", "sleep 2; echo 'late words' of a child"])

class Picture:
    def _repr_png_(self):
        import base64
        return base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")

Picture()
`;

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({
    'shown.py': code,
    // The code does not read as what it prints, so that seeing that means that it ran.
    'again.py': 'print("after", "the restart")\n',
    '.vscode/settings.json': '{"holdfast.gracePeriodSeconds": 0}',
  });
  server = await workbench.startServer({
    // The server forgets a window that is gone at once, and its extension host with it.
    args: ['--reconnection-grace-time=1'],
  });
  window = await openWindow(server, workspace.folder);
});

const panelText = (text: string | RegExp): Promise<void> =>
  window.panel().getByText(text).first().waitFor();

/** Names of the files of kept transcripts, wherever the editor has the extension's folder. */
function keptFiles(): string[] {
  const files = fs.readdirSync(server.folder, { recursive: true }) as string[];
  return files.filter((file) => file.includes('transcripts') && file.endsWith('.jsonl'));
}

test('text, picture and what came after the end are found again after a restart', async () => {
  await window.openFile('shown.py');
  await window.runCommand('Holdfast: Run File');
  await panelText('words to be found again');
  await window.panel().locator('img').first().waitFor();
  await window.tree.open();
  await window.tree.session(/idle/).first().waitFor();
  await panelText('late words of a thread');
  await panelText('late words of a child');

  window = await restart(server, window);
  await window.runCommand('Holdfast: Show Panel');
  await panelText('words to be found again');
  await window.panel().locator('img').first().waitFor();
  await panelText(/^Earlier, until /);
  await panelText('From earlier');
  const text = await window.panel().locator('body').innerText();
  expect(text.match(/late words of a (thread|child)/g)).toEqual([
    'late words of a thread',
    'late words of a child',
  ]);
  await window.screenshot('records-1-restarted');
});

test('what runs then in the same session stands below it', async () => {
  await window.openFile('again.py');
  await window.runCommand('Holdfast: Run File');
  await panelText('after the restart');
  const text = await window.panel().locator('body').innerText();
  const order = ['words to be found again', 'Earlier, until', 'after the restart'];
  const places = order.map((part) => text.indexOf(part));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(-1);
  await window.screenshot('records-2-goes-on');
});

test('after a reload that no kernel outlives, the first run says that variables are gone', async () => {
  await window.reload();
  expect(await until(() => server.kernels().length === 0, 10_000)).toBe(true);
  await window.openFile('again.py');
  await window.runCommand('Holdfast: Run File');
  await panelText(/New kernel, earlier variables are gone: it ended while the window was away/);
});

test('a session that is left out says so', async () => {
  await window.runCommand("Holdfast: Don't Keep This Transcript");
  await window.answer('is no longer kept', 'Clear');
  await window.tree.open();
  await window.tree
    .row(/transcript not kept/)
    .first()
    .waitFor();
  await panelText(/From here on, this transcript is not kept/);
  await window.screenshot('records-3-left-out');
  await window.runCommand('Holdfast: Keep This Transcript');
  await panelText(/From here on, this transcript is kept/);
});

test('what is cleared is gone for good', async () => {
  await window.runCommand('Holdfast: Run File');
  await panelText('after the restart');
  window = await restart(server, window);
  await window.runCommand('Holdfast: Show Panel');
  await panelText('after the restart');
  await window.runCommand('Holdfast: Clear Kept Transcripts');
  await window.answer('Clear the kept transcripts of 1 session', 'Clear');
  await window.panel().getByText('after the restart').first().waitFor({ state: 'detached' });
  expect(keptFiles()).toEqual([]);
  window = await restart(server, window);
  await window.runCommand('Holdfast: Show Panel');
  await panelText(/Select code in a Python file/);
  await window.screenshot('records-4-cleared');
});
