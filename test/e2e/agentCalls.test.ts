import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  chatOf,
  chatOptions,
  openWindow,
  type TemporaryWorkspace,
  type WorkbenchChat,
  type WorkbenchServer,
  type WorkbenchWindow,
} from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// What agents do besides the ordinary: at once, wrongly, for long, and when what they have in hand is gone. Each test goes
// on where the one before it ended.

const RUN = 'holdfast_run_code';
const READ = 'holdfast_read_output';

const patience = { timeout: 40_000 };
const python = { language: 'python' };

let workspace: TemporaryWorkspace;
let elsewhere: TemporaryWorkspace;
let server: WorkbenchServer;
let window: WorkbenchWindow;
let chat: WorkbenchChat;

const nameOf = ({ folder }: TemporaryWorkspace): string => path.basename(folder);

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({ 'first.py': 'x = 20\n' });
  elsewhere = workbench.folder({ 'other.py': 'z = 3\n' });
  server = await workbench.startServer({
    ...chatOptions,
    // A busy machine takes its time to draw a window again.
    settings: { ...chatOptions.settings, 'holdfast.gracePeriodSeconds': 120 },
  });
  window = await openWindow(server, workspace.folder, { size: { width: 1500, height: 900 } });
  chat = chatOf(window);
  await window.tree.open();
  await window.openFile('first.py');
});

test('a call that was refused leaves nothing behind: the same code again is asked about and run where the person is by then', async () => {
  const where = { tool: RUN, input: { ...python, code: 'import os; os.getcwd()' } };
  await chat.follow([where, { say: 'It was refused.' }]);
  await chat.send('where am I');
  await expect.poll(() => chat.confirmation(), patience).toContain(nameOf(workspace));
  await chat.skip();
  await chat.said('It was refused.').waitFor(patience);
  expect(await chat.heard()).toEqual([expect.stringContaining('skip')]);

  await window.openFile(`${elsewhere.folder}/other.py`);
  await chat.follow([where, { say: 'It was run.' }]);
  await chat.send('and now');
  await expect.poll(() => chat.confirmation(), patience).toContain(nameOf(elsewhere));
  await chat.allowOnce();
  await chat.said('It was run.').waitFor(patience);
  expect((await chat.heard())[0]).toContain(elsewhere.folder);
  await window.openFile('first.py');
});

test('long code is shown whole before it runs, and longer code than can be shown is refused', async () => {
  const long = Array.from({ length: 300 }, (_, at) => `line_${at} = ${at}`).join('\n');
  await chat.follow([
    { tool: RUN, input: { ...python, code: `"${'x'.repeat(100_000)}"` } },
    { tool: RUN, input: { ...python, code: long } },
    { say: 'It is long.' },
  ]);
  await chat.send('much code');
  await expect.poll(() => chat.confirmation(), patience).toContain('line_0 = 0');
  const question = window.page.locator('.chat-confirmation-widget-container:visible');
  await question.hover();
  await expect
    .poll(async () => {
      await window.page.mouse.wheel(0, 2_000);
      return chat.confirmation();
    }, patience)
    .toContain('line_299 = 299');
  await window.screenshot('agentCalls-long');
  await chat.allowOnce();
  await chat.said('It is long.').waitFor(patience);
  const [refused, run] = await chat.heard();
  expect(refused).toMatch(/ERROR.*"code" is longer than the 50,000 characters.*Run it in parts/);
  expect(run).toContain('Done after');
});

test('two calls at once in one answer are each asked about, and run one after the other', async () => {
  const call = (code: string) => ({ tool: RUN, input: { ...python, code } });
  await chat.follow([
    { calls: [call('import time; time.sleep(1); got = ["one"]'), call('got.append("two"); got')] },
    { say: 'Both are run.' },
  ]);
  await chat.send('two at once');
  const questions = window.page.locator('.chat-confirmation-widget-container:visible');
  await questions.first().waitFor(patience);
  await window.screenshot('agentCalls-two');
  await chat.allow();
  await expect.poll(() => chat.confirmation(), patience).toContain('got.append("two")');
  await chat.allow();
  await chat.said('Both are run.').waitFor(patience);
  const [one, two] = await chat.heard();
  expect(one).toMatch(/Done after.*No output\.$/s);
  expect(two).toContain("['one', 'two']");
});

test('calls that make no sense are refused without a question, with what to do instead', async () => {
  const wrong: [string, object, RegExp][] = [
    [RUN, python, /"code" must be a string/],
    [RUN, { code: 'x' }, /"language" must name/],
    [RUN, { code: 'ls', language: 'bash' }, /runs no bash code.*Sessions that would do/],
    [RUN, { code: 'x', ...python, session: 'nowhere' }, /no session "nowhere".*would do/],
    [RUN, { code: 'x', ...python, waitSeconds: 9_999 }, /"waitSeconds" must be/],
    [READ, { handle: 'run_nobody' }, /This chat has no run "run_nobody"/],
    [READ, {}, /"handle" must be/],
  ];
  await chat.follow([
    ...wrong.map(([tool, input]) => ({ tool, input })),
    { say: 'All were refused.' },
  ]);
  await chat.send('nonsense');
  await chat.said('All were refused.').waitFor(patience);
  const heard = await chat.heard();
  for (const [at, [, , why]] of wrong.entries()) expect(heard[at]).toMatch(why);
});

test('a chat request that is stopped while its call waits has the run interrupted', async () => {
  const code = 'import time\nwhile True: time.sleep(0.05)';
  await chat.follow([{ tool: RUN, input: { ...python, code, waitSeconds: 600 } }]);
  await chat.send('forever');
  await window.tree.session('running').waitFor(patience);
  await chat.stop();
  await window.tree.session('running').waitFor({ state: 'hidden', ...patience });
  await chat.follow([
    { tool: RUN, input: { ...python, code: '"alive", got' } },
    { say: 'It is alive.' },
  ]);
  await chat.send('still there');
  await chat.said('It is alive.').waitFor(patience);
  expect((await chat.heard())[0]).toContain("('alive', ['one', 'two'])");
});

test('code that asks for input: the chat is told, the person answers in the panel, the chat reads on', async () => {
  const code = 'name = input("Who is it? ")\nprint("hello", name)';
  await chat.follow([
    { tool: RUN, input: { ...python, code, waitSeconds: 3 } },
    { tool: READ, input: { handle: '{{run_\\w+}}', waitSeconds: 60 } },
    { say: 'It is answered.' },
  ]);
  await chat.send('who');
  await window.panel().locator('label.prompt', { hasText: 'Who is it?' }).waitFor(patience);
  await expect.poll(() => chat.heard(), patience).toHaveLength(1);
  expect((await chat.heard())[0]).toContain('It asks for input ("Who is it?"), which a person');
  await window.screenshot('agentCalls-input');
  await window.panel().locator('#holdfast-answer').fill('Ada');
  await window.panel().locator('#holdfast-answer').press('Enter');
  await chat.said('It is answered.').waitFor(patience);
  expect((await chat.heard())[1]).toMatch(/^Done after.*hello Ada$/s);
});

test('a handle whose session was restarted says how the run ended, and reads what there was', async () => {
  const code = 'import time\nprint("begun")\ntime.sleep(600)';
  await chat.follow([
    { tool: RUN, input: { ...python, code, waitSeconds: 2 } },
    { tool: READ, input: { handle: '{{run_\\w+}}', from: 0, waitSeconds: 60 } },
    { tool: RUN, input: { ...python, code: '"got" in globals()' } },
    { say: 'It was restarted.' },
  ]);
  await chat.send('wait for me');
  await expect.poll(() => chat.heard(), patience).toHaveLength(1);
  await window.tree.session('running').click({ button: 'right' });
  await window.page.getByRole('menuitem', { name: 'Restart', exact: true }).hover();
  await window.page.locator('.action-item.focused', { hasText: 'Restart' }).waitFor();
  await window.page.keyboard.press('Enter');
  await window.page.locator('.statusbar .codicon-bell-dot').waitFor();
  await window.answer('is also held by Chat “where am I”', 'Restart');
  await chat.said('It was restarted.').waitFor(patience);
  const [, read, next] = await chat.heard();
  expect(read).toMatch(/^Cancelled after.*\nOutput:\nbegun\n/);
  expect(next).toMatch(/Note: .*restart.*\nFalse/is);
});

test('two chats at once: in the shared session the second waits in line, in another it does not', async () => {
  const slow =
    'import os, time\nwhile not os.path.exists("go"): time.sleep(0.05)\nshared = "from the view"';
  await chat.follow(
    [{ tool: RUN, input: { ...python, code: slow } }, { say: 'The view is done.' }],
    'in the view',
  );
  await chat.follow(
    [
      {
        tool: RUN,
        input: { ...python, code: '"another", 1', session: nameOf(elsewhere) },
      },
      { tool: RUN, input: { ...python, code: 'shared', waitSeconds: 1 } },
      { tool: READ, input: { handle: '{{run_\\w+}}', waitSeconds: 60 } },
      { say: 'The editor is done.' },
    ],
    'in an editor',
  );
  await chat.send('in the view');
  await window.tree.session('running').waitFor(patience);
  await chat.sendInEditor('in an editor');
  await expect.poll(() => chat.heard('in an editor'), patience).toHaveLength(2);
  fs.writeFileSync(path.join(workspace.folder, 'go'), '');
  await chat.said('The editor is done.').waitFor(patience);
  const [other, queued, end] = await chat.heard('in an editor');
  expect(other).toContain("('another', 1)");
  expect(queued).toContain('Not started yet: 1 run of the session before it.');
  expect(end).toContain('from the view');
  await window.tree.row('Chat “in an editor”').first().waitFor();
  await window.screenshot('agentCalls-chats');
});

test('after a reload of the window a handle is told to be gone, and the session still has what the run left', async () => {
  await chat.follow([
    { tool: RUN, input: { ...python, code: 'left = "behind"', waitSeconds: 0 } },
    { say: 'It goes on.' },
  ]);
  await chat.send('before the reload');
  await chat.said('It goes on.').waitFor(patience);
  const [handle = ''] = /run_\w+/.exec((await chat.heard())[0] ?? '') ?? [];
  await window.tree.session('running').waitFor({ state: 'hidden', ...patience });

  const before = window.host();
  await window.reload();
  await before.gone;
  await window.tree.open();
  await window.openFile('first.py');
  await window.tree.session('idle').first().waitFor(patience);
  await chat.follow([
    { tool: READ, input: { handle } },
    { tool: RUN, input: { ...python, code: 'left' } },
    { say: 'It is back.' },
  ]);
  await chat.send('after the reload');
  await chat.allow();
  await chat.said('It is back.').waitFor(patience);
  const [gone, kept] = await chat.heard();
  expect(gone).toContain(`This chat has no run "${handle}".`);
  expect(kept).toContain('behind');
});
