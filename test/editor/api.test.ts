import assert from 'node:assert/strict';
import fs from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { HoldfastClient } from '../../src/api';
import type { Sample } from '../support/sampleExtension/extension';
import { until } from '../support/until';
import { inFolder, openPython, say, written } from './support';

const run = (name: string): Thenable<unknown> => vscode.commands.executeCommand(`holdfast.${name}`);

describe('Another extension', () => {
  let sample: Sample;
  let subscriptions: { dispose(): unknown }[];
  let client: HoldfastClient;

  const sessionOf = (id: string) => client.sessions().find((session) => session.id === id);

  beforeEach(async () => {
    const extension = vscode.extensions.getExtension<Sample>('holdfast-tests.sample');
    assert.ok(extension, 'the sample extension is found');
    sample = await extension.activate();
    subscriptions = [];
    client = sample.connect(subscriptions);
  });

  afterEach(async () => {
    await client.release();
    for (const each of subscriptions) each.dispose();
    await run('stopAll');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('gets an API of version 1 from the activation, and is an owner by its id', () => {
    assert.equal(sample.api.version, 1);
    assert.equal(client.ownerId, 'extension:holdfast-tests.sample');
    assert.deepEqual(Object.keys(sample.api).sort(), ['for', 'version']);
  });

  it("runs code in the person's session, and hears its output", async () => {
    await openPython(`shared = 40\n${say('api-shared.txt', '"end"')}\n`, 'shared.py');
    await run('runFile');
    await written('api-shared.txt');
    const heard: string[] = [];
    const result = await client.run('print("hello")\nshared + 2', {
      onOutput: (output) => heard.push(output.type),
    });
    assert.deepEqual([result.exitCode, result.cancelled], [0, false]);
    assert.match(result.output, /hello\n42/);
    assert.deepEqual(heard, ['stream', 'result']);
    assert.deepEqual(
      client.sessions().map(({ state, isHeldByYou }) => ({ state, isHeldByYou })),
      [{ state: 'idle', isHeldByYou: true }],
    );
  });

  it('ends a run by a signal and by a limit', async () => {
    const loop = 'while True: pass';
    const controller = new AbortController();
    const aborted = client.run(`print("on")\n${loop}`, {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    assert.equal((await aborted).cancelled, true);
    const limited = await client.run(loop, { timeoutMs: 500 });
    assert.equal(limited.cancelled, true);
    assert.match(limited.output, /Timed out/);
  });

  it('holds a session of its own until it lets go, and it stops then', async () => {
    const held = await client.hold({ name: 'of the sample' });
    assert.equal(held.session.label, 'of the sample');
    await client.run('mine = 1', { session: held.session.id });
    const elsewhere = await client.run('"mine" in globals()');
    assert.match(elsewhere.output, /False/);
    await held.release();
    assert.ok(await until(() => sessionOf(held.session.id) === undefined, 10_000));
  });

  it('ends with its context, as before a reload; its session stays until it lets go', async () => {
    const { session } = await client.hold({ name: 'for a while' });
    let told = 0;
    client.onDidChangeSessions(() => told++);
    for (const each of subscriptions) each.dispose();
    await assert.rejects(client.run('1'), { code: 'closed' });
    client = sample.connect((subscriptions = []));
    assert.equal(sessionOf(session.id)?.isHeldByYou, true);
    await client.release();
    assert.ok(await until(() => sessionOf(session.id) === undefined, 10_000));
  });

  it('is asked before each run, and may stand in for it', async () => {
    const hook = client.addBeforeRunHook(async ({ code }) => {
      if (code !== 'secret()') return undefined;
      const result = await client.run('"stood in"');
      return { result };
    });
    assert.match((await client.run('secret()', { name: 'other' })).output, /stood in/);
    hook.dispose();
    assert.equal((await client.run('secret()')).exitCode, 1);
    const wrong = client.addBeforeRunHook(() => ({ result: 7 }) as never);
    await assert.rejects(client.run('1'), {
      code: 'bad_input',
      message: /^Sample of Holdfast's API: answer of its before-run hook/,
    });
    wrong.dispose();
  });

  it('runs code in the background, beside which no capture begins and after which one does', async function () {
    this.timeout(60_000);
    const go = JSON.stringify(inFolder('background-go'));
    const code = `import os, time\nwhile not os.path.exists(${go}): time.sleep(0.01)`;
    const { executionId } = await client.background.launch(code);
    assert.deepEqual(
      client.background.list().map((each) => [each.executionId, each.status]),
      [[executionId, 'running']],
    );
    await openPython(say('beside.txt', '"end"'), 'beside.py');
    await run('runWithCapture');
    await assert.rejects(
      client.externalMutation(() => undefined),
      { code: 'capture_busy' },
    );
    assert.equal(fs.existsSync(inFolder('beside.txt')), false, 'nothing was run');
    fs.writeFileSync(inFolder('background-go'), '');
    const isDone = (): boolean => client.background.peek(executionId).done;
    assert.ok(await until(isDone, 20_000), 'the background run ends');
    await run('runWithCapture');
    assert.equal(fs.existsSync(inFolder('beside.txt')), true);
  });

  it('edits files beside no capture, and the capture shows what its run changed', async function () {
    this.timeout(60_000);
    fs.writeFileSync(inFolder('captured.txt'), 'before\n');
    const go = JSON.stringify(inFolder('captured-go'));
    const write = (name: string, text: string): string =>
      `open(${JSON.stringify(inFolder(name))}, "w").write("${text}")`;
    await openPython(
      [
        'import os, time',
        write('captured.txt', 'after\\n'),
        write('captured-new.txt', 'new'),
        `while not os.path.exists(${go}): time.sleep(0.01)`,
      ].join('\n'),
      'capture.py',
    );
    const capture = run('runWithCapture');
    const isAsked = (): boolean => fs.existsSync(inFolder('captured-new.txt'));
    assert.ok(await until(isAsked, 20_000), 'the run goes on');
    const edit = (): Promise<void> =>
      client.externalMutation(() => fs.writeFileSync(inFolder('captured-go'), ''));
    await assert.rejects(edit(), { code: 'capture_busy' });
    // The person's own next run waits for the capture.
    const next = client.run('"next"');
    fs.writeFileSync(inFolder('captured-go'), '');
    await capture;
    assert.match((await next).output, /next/);
    await edit();

    const pick = run('showCapturedChanges');
    const accept = async (): Promise<boolean> => {
      await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
      return diff() !== undefined;
    };
    assert.ok(await until(accept, 20_000), 'a diff is shown');
    await pick;
    const shown = diff();
    assert.ok(shown);
    const text = async (uri: vscode.Uri): Promise<string> =>
      (await vscode.workspace.openTextDocument(uri)).getText();
    const sides = [await text(shown.original), await text(shown.modified)];
    assert.deepEqual(
      [shown.modified.path, sides],
      ['/after/captured-go', ['', '']],
      'the first of the files by name',
    );
  });
});

function diff(): vscode.TabInputTextDiff | undefined {
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  return inputs.find((input) => input instanceof vscode.TabInputTextDiff);
}
