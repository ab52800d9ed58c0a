import { describe, expect, test } from 'vitest';
import {
  chatOf,
  chatOptions,
  openWindow,
  packagedExtensionWith,
  type ServerOptions,
  type TemporaryWorkspace,
  type WorkbenchChat,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { type Workbench, workbenchForTests } from '../support/workbench/forTests';

// Agents beside a person, in a real chat with a scripted model. Each test goes on where the one before it ended.

const RUN = 'holdfast_run_code';
const READ = 'holdfast_read_output';
const HANDLE = '{{run_\\w+}}';

const sleeps = `import time
print("x is", x)
time.sleep(8)
x = x + 1
print("slept")`;

/** A chat takes its time on a machine that has little of it. */
const patience = { timeout: 60_000 };

let workspace: TemporaryWorkspace;
let elsewhere: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;
let chat: WorkbenchChat;

async function begin(
  workbench: Workbench,
  { settings, args = [], ...more }: ServerOptions,
): Promise<void> {
  workspace = workbench.folder({ 'first.py': 'x = 20\n' });
  elsewhere = workbench.folder({ 'other.py': 'z = 3\n' });
  server = await workbench.startServer({
    ...chatOptions,
    ...more,
    settings: { ...chatOptions.settings, ...settings },
    args: [...chatOptions.args, ...args],
  });
  window = await openWindow(server, workspace.folder, { size: { width: 1500, height: 900 } });
  chat = chatOf(window);
  await window.tree.open();
  await window.openFile('first.py');
}

/** Sends a prompt for which the model runs the code, and waits for the end of its answer. */
async function letRun(
  code: string,
  prompt: string,
  send: (prompt: string) => Promise<void> = (text) => chat.send(text),
): Promise<void> {
  const done = `Over: ${prompt}`;
  await chat.follow([{ tool: RUN, input: { code, language: 'python' } }, { say: done }]);
  await send(prompt);
  await chat.said(done).waitFor(patience);
}

const closeChatEditor = () =>
  window.evaluate((api) => api.commands.executeCommand('workbench.action.closeActiveEditor'));

const configure = (name: string, value: number) =>
  window.evaluate(
    (api, [key, to]: [string, number]) =>
      api.workspace.getConfiguration('holdfast').update(key, to, api.ConfigurationTarget.Global),
    [name, value],
  );

const chatRow = (title: string) => window.tree.row(`Chat “${title}”`);

describe('an agent in an editor that grants no proposed API', () => {
  workbenchForTests(async (workbench) => {
    await begin(workbench, { settings: { 'holdfast.capacity': 1 } });
    await window.runCommand('Holdfast: Run File');
    await window.tree.session('idle').waitFor();
  });

  test("vscode-jupyter 17119: a scripted model in agent mode runs code in the developer's session with confirmation, loses its wait and reads the rest", async () => {
    await chat.follow([
      { tool: RUN, input: { code: sleeps, language: 'python', waitSeconds: 2 } },
      { tool: READ, input: { handle: HANDLE, waitSeconds: 60 } },
      { say: 'It is read.' },
    ]);
    await chat.send('look at x');
    await expect.poll(() => chat.confirmation(), { timeout: 20_000 }).toContain('x = x + 1');
    const asked = await chat.confirmation();
    expect(asked).toContain('a session held by This window.');
    expect(asked).toContain('the chat waits up to 2 s');
    await window.screenshot('agent-confirmation');
    await chat.allow();
    await chatRow('look at x').waitFor();
    await chat.said('It is read.').waitFor(patience);
    await window.screenshot('agent-tree');
    const [partial, rest] = await chat.heard();
    expect(partial).toMatch(
      /Still running.*\nOutput:\nx is 20\n\nIt goes on\. Its handle is "run_/,
    );
    expect(rest).toMatch(/^Done after .*exit code 0\.\nOutput, from character 8 on:\nslept$/);
    await window.tree.row('This window').waitFor();
  });

  test('jupyter-mcp-server 307: a call whose wait is over goes on, and a second call queues', async () => {
    const slow = 'import time; time.sleep(10); first = "done"';
    await chat.follow([
      { tool: RUN, input: { code: slow, language: 'python', waitSeconds: 2 } },
      { tool: RUN, input: { code: 'print(first, x)', language: 'python', waitSeconds: 2 } },
      { tool: READ, input: { handle: HANDLE, waitSeconds: 60 } },
      { say: 'Both are over.' },
    ]);
    await chat.send('and again');
    await chat.said('Both are over.').waitFor(patience);
    const [first, second, end] = await chat.heard();
    expect(first).toContain('Still running');
    expect(second).toContain('Not started yet: 1 run of the session before it.');
    expect(end).toMatch(/^Done.*\nOutput:\ndone 21$/);
  });

  test('positron 8727: bash is refused, and the sessions that would do are named', async () => {
    await chat.follow([
      { tool: RUN, input: { code: 'ls', language: 'bash' } },
      { say: 'It was refused.' },
    ]);
    await chat.send('list the files');
    await chat.said('It was refused.').waitFor(patience);
    const folder = workspace.folder.split('/').at(-1) ?? '';
    expect((await chat.heard())[0]).toMatch(new RegExp(`runs no bash.*"${folder}" \\(Python\\)`));
  });

  test('a person runs a fenced block by @holdfast', async () => {
    await chat.send('@holdfast\n```python\nprint("x was", x)\n1 / 0\n```');
    const answer = window.page.locator('.interactive-response:visible').last();
    await answer.getByText('It ended with an error.').waitFor();
    await expect.poll(() => answer.innerText()).toMatch(/x\swas\s21[^]*ZeroDivisionError/);
    await window.screenshot('agent-participant');
  });

  test('a session that the window holds is not evicted for an agent, which is told what it waits for', async () => {
    await window.openFile(`${elsewhere.folder}/other.py`);
    await chat.follow([
      {
        tool: RUN,
        input: { code: 'y = 1', language: 'python', waitSeconds: 5, timeoutSeconds: 8 },
      },
      { tool: READ, input: { handle: HANDLE, waitSeconds: 60 } },
      { say: 'No room.' },
    ]);
    await chat.send('elsewhere');
    await chat.said('No room.').waitFor(patience);
    const [waiting, end] = await chat.heard();
    expect(waiting).toContain('all kernel slots are taken');
    expect(end).toMatch(/^Cancelled.*\nNote: Timed out after 8 seconds/);
    await window.tree.row('This window').waitFor();
    await window.openFile('first.py');
  });

  test('New Chat: the chat before keeps its hold, as nobody tells that it was closed', async () => {
    await chat.newChat();
    await letRun('y = 2', 'another chat');
    await chatRow('another chat').filter({ hasText: 'holds it' }).waitFor();
    await chatRow('look at x').filter({ hasText: 'holds it' }).waitFor();
    expect(await window.tree.row('lets go in').count()).toBe(0);
  });

  test('closing the chat editor: its chat keeps its hold for the same reason', async () => {
    await letRun('y = 3', 'in an editor', (prompt) => chat.sendInEditor(prompt));
    await chatRow('in an editor').filter({ hasText: 'holds it' }).waitFor();
    await closeChatEditor();
    await letRun('y = 4', 'after the editor');
    await chatRow('in an editor').filter({ hasText: 'holds it' }).waitFor();
    expect(await window.tree.row('lets go in').count()).toBe(0);
    await window.screenshot('agent-holds');
  });

  test('deleting the chats: each lets go at once, and the window goes on holding', async () => {
    await chat.deleteAllChats();
    await chatRow('another chat').waitFor({ state: 'hidden' });
    await chatRow('look at x').waitFor({ state: 'hidden' });
    await chatRow('in an editor').waitFor({ state: 'hidden' });
    await window.tree.row('This window').waitFor();
  });

  test('a kernel that only a deleted chat held is stopped', async () => {
    await window.tree.act(window.tree.row('This window').first(), 'Release');
    await window.page.getByText('No session yet').first().waitFor();
    await letRun('y = 5', 'alone');
    await chatRow('alone').waitFor();
    expect(await window.tree.row('This window').count()).toBe(0);
    await chat.deleteAllChats();
    await window.page.getByText('No session yet').first().waitFor();
    expect(kernels()).toBe(0);
  });

  test('a kernel that only a closed chat holds is stopped for want of use', async () => {
    await letRun('y = 6', 'left alone');
    await chat.newChat();
    await chatRow('left alone').filter({ hasText: 'holds it' }).waitFor();
    // 3 seconds.
    await configure('idleExpiryMinutes', 0.05);
    await window.page.getByText('No session yet').first().waitFor();
    expect(kernels()).toBe(0);
  });
});

describe('an agent in an editor that tells which chats it unloads', () => {
  workbenchForTests((workbench) =>
    begin(workbench, {
      extensions: [packagedExtensionWith(['chatParticipantPrivate'], workbench.folder({}).folder)],
      // 6 seconds.
      settings: { 'holdfast.chat.gracePeriodMinutes': 0.1 },
      args: ['--enable-proposed-api=holdfast.holdfast'],
    }),
  );

  test('New Chat: the chat before keeps its hold for the grace period, and then its kernel goes', async () => {
    await chat.follow([
      { tool: RUN, input: { code: 'a = 1', language: 'python' } },
      { say: 'Run.' },
    ]);
    await chat.send('a first chat');
    await chat.allow();
    await chat.said('Run.').waitFor(patience);
    await chatRow('a first chat').filter({ hasText: 'holds it' }).waitFor();
    await chat.newChat();
    await chatRow('a first chat').filter({ hasText: 'lets go in' }).waitFor();
    await window.screenshot('agent-grace');
    expect(kernels()).toBe(1);
    await window.page.getByText('No session yet').first().waitFor();
    expect(kernels()).toBe(0);
  });

  test('closing the chat editor: its chat lets go the same way, and no other does', async () => {
    await chat.newChat();
    await letRun('b = 1', 'in the view');
    await letRun('b = 2', 'in an editor', (prompt) => chat.sendInEditor(prompt));
    await chatRow('in an editor').filter({ hasText: 'holds it' }).waitFor();
    await closeChatEditor();
    await chatRow('in an editor').filter({ hasText: 'lets go in' }).waitFor();
    await chatRow('in an editor').waitFor({ state: 'hidden' });
    await chatRow('in the view').filter({ hasText: 'holds it' }).waitFor();
  });

  test('deleting the chat: it lets go at once, whatever the grace period', async () => {
    await configure('chat.gracePeriodMinutes', 60);
    await chat.newChat();
    await chatRow('in the view')
      .filter({ hasText: /lets go in (59|60) min|1 h/ })
      .waitFor();
    await chat.deleteAllChats();
    await window.page.getByText('No session yet').first().waitFor();
    expect(kernels()).toBe(0);
  });
});

function kernels(): number {
  return server.kernels().length;
}
