import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunnerProcess } from '../support/runnerProcess';

let runner: RunnerProcess;
beforeAll(async () => {
  runner = await RunnerProcess.start();
});
afterAll(() => runner.stop());

/** Answers a run's questions in turn, and finishes it. */
async function conversation(code: string, answers: readonly (string | null)[]) {
  const id = runner.begin(code, { stdin: true });
  const asked: { prompt: string; password: boolean }[] = [];
  const seen = new Set<unknown>();
  for (const text of answers) {
    const question = await runner.until(
      (item) => item.op === 'input' && item.run === id && !seen.has(item),
    );
    seen.add(question);
    if (question.op === 'input')
      asked.push({ prompt: question.prompt, password: question.password });
    runner.send({ op: 'input', id, text });
  }
  return { asked, run: await runner.finish(id) };
}

describe('input of the Python runner', () => {
  it('vscode-jupyter 6897, 2402: a loop sees its prompts and answers', async () => {
    const { asked, run } = await conversation("while input('> ') != 'q': print('again')", [
      'a',
      '',
      'é\ud800',
      'q',
    ]);
    expect(asked).toHaveLength(4);
    expect(asked[0]).toEqual({ prompt: '> ', password: false });
    expect(run.text()).toBe('again\nagain\nagain\n');
    expect(run.done).toMatchObject({ status: 'ok', stdinRequested: false });
  });

  it('vscode-jupyter 6897, 2402: end of file is EOFError, not an empty line', async () => {
    const { run } = await conversation('input()', [null]);
    expect(run.error?.name).toBe('EOFError');
  });

  it('what was printed before stands before the question', async () => {
    const { run } = await conversation("print('before'); input('?')", ['x']);
    expect(run.heard.map((item) => item.op)).toEqual(
      expect.arrayContaining(['stream', 'input', 'result', 'done']),
    );
    expect(run.heard.findIndex((item) => item.op === 'input')).toBeGreaterThan(
      run.heard.findIndex((item) => item.op === 'stream' && item.text === 'before\n'),
    );
  });

  it('getpass hides what is typed', async () => {
    const { asked, run } = await conversation(
      "from getpass import getpass\ngetpass('Secret: ') + getpass()",
      ['a', 'b'],
    );
    expect(asked).toEqual([
      { prompt: 'Secret: ', password: true },
      { prompt: 'Password: ', password: true },
    ]);
    expect(run.result).toBe("'ab'");
  });

  it('sys.stdin reads lines, iterates and ends', async () => {
    const { run } = await conversation(
      'import sys\nprint(repr(sys.stdin.readline()), [l for l in sys.stdin], repr(sys.stdin.read()))',
      ['a', 'b', 'c', null, 'd', null],
    );
    expect(run.text()).toBe("'a\\n' ['b\\n', 'c\\n'] 'd\\n'\n");
  });

  it('a thread may ask while its run lasts', async () => {
    const { run } = await conversation(
      `import threading
t = threading.Thread(target=lambda: print(input('from a thread'))); t.start(); t.join()`,
      ['yes'],
    );
    expect(run.text()).toBe('yes\n');
  });

  it('a thread whose question outlives its run is told so, and the next run can ask', async () => {
    const first = runner.begin(
      `import threading, time
def ask():
    try: input('too late')
    except EOFError as error: print(error)
t = threading.Thread(target=ask); t.start()`,
      { stdin: true },
    );
    await runner.finish(first);
    const { run } = await conversation("t.join(); input('now')", ['yes']);
    expect(run.result).toBe("'yes'");
  });

  it('where nobody can answer, asking ends the run with the reason', async () => {
    for (const code of [
      "input('?')",
      'import sys; sys.stdin.readline()',
      'import getpass; getpass.getpass()',
    ]) {
      const run = await runner.run(code);
      expect(run.done).toMatchObject({ status: 'error', stdinRequested: true, interrupted: false });
      expect(run.error?.value).toContain('nobody can answer');
      expect(run.error?.traceback).not.toContain('runner.py');
    }
    expect((await runner.run('1')).done.stdinRequested).toBe(false);
  });
});
