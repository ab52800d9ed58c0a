import { afterEach, expect, test } from 'vitest';
import { openWindow, type WorkbenchServer, type WorkbenchWindow } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// What a window says about kernels that do not answer. Each test goes on where the one before it ended.

let server: WorkbenchServer;
let window: WorkbenchWindow;
const suspended = new Set<number>();

workbenchForTests(async (workbench) => {
  const workspace = workbench.folder({
    'quick.py': 'x = 20\nx + 1\n',
    'endless.py': 'while True:\n    pass\n',
  });
  server = await workbench.startServer();
  window = await openWindow(server, workspace.folder);
  await window.tree.open();
});

afterEach(() => {
  for (const pid of suspended) if (isRunning(pid)) process.kill(pid, 'SIGCONT');
});

const isRunning = (pid: number): boolean => server.processes().some((each) => each.pid === pid);

function only(part: RegExp): number {
  const found = server.processes().filter(({ command }) => part.test(command));
  expect(found).toHaveLength(1);
  return found[0]?.pid ?? 0;
}

function suspend(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  suspended.add(pid);
}

async function runWholeFile(name: string): Promise<void> {
  await window.openFile(name);
  await window.runCommand('Holdfast: Run File');
}

test('an idle kernel that is suspended: tree and status bar say so, and take it back when it answers', async () => {
  await runWholeFile('quick.py');
  await window.tree.session('idle').waitFor();
  const kernel = only(/runner\.py/);
  suspend(kernel);
  await window.tree.session('not responding').waitFor();
  await window.tree.row(/^Not responding/).waitFor();
  await window.statusBarItem(/not responding for \d+ s/).waitFor();
  await window.screenshot('notResponding-kernel');
  process.kill(kernel, 'SIGCONT');
  await window.tree.session('idle').waitFor();
  await window.statusBarItem(/idle/).waitFor();
});

test('a suspended kernel host: its sessions do not respond, and do when it goes on', async () => {
  const host = only(/kernelHost\.js/);
  suspend(host);
  await window.tree.session('not responding').waitFor();
  await window.tree.row('the kernel host does not answer').waitFor();
  process.kill(host, 'SIGCONT');
  await window.tree.session('idle').waitFor();
});

test('a suspended kernel under a run: the interrupt is not heeded, the kill is offered, and works', async () => {
  await runWholeFile('endless.py');
  const running = window.tree.session('running');
  await running.waitFor();
  const kernel = only(/runner\.py/);
  suspend(kernel);
  await window.tree.act(running, 'Interrupt');
  await window.tree.session(/running.*interrupt not heeded.*not responding/).waitFor();
  await window.screenshot('notResponding-unheeded');
  await window.answer('has not heeded the interrupt', 'Kill');
  await window.page.getByText('No session yet').first().waitFor();
  expect(isRunning(kernel)).toBe(false);
});
