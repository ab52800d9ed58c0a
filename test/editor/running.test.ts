import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { inFolder, openPython, say, select, written } from './support';

const run = (name: string): Thenable<unknown> => vscode.commands.executeCommand(`holdfast.${name}`);
const configure = (name: string, value: unknown): Thenable<void> =>
  vscode.workspace
    .getConfiguration('holdfast')
    .update(name, value, vscode.ConfigurationTarget.Workspace);

describe('Running code from an editor', () => {
  let count = 0;
  let out: string;

  beforeEach(() => {
    out = `said-${++count}.txt`;
  });

  afterEach(async () => {
    await run('stopAll');
    await configure('python.interpreter', undefined);
    await configure('kernelMode', undefined);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('sends the selection, and the next run sees its variables', async () => {
    const editor = await openPython(`a = 2\nb = 3\n${say(out, 'a * b', '"end"')}\n`, 'vars.py');
    editor.selection = new vscode.Selection(0, 0, 1, 5);
    await run('runSelection');
    select(editor, 2);
    await run('runSelection');
    assert.deepEqual(await written(out), ['6']);
  });

  it('moves on from statement to statement, three within 50 ms once each and in order', async () => {
    const lines = ['"one"', '"two"', '"three"', '"end"'].map((each) => say(out, each));
    const editor = await openPython(lines.join('\n\n# a comment\n'), 'advance.py');
    select(editor, 0);
    await Promise.all([
      run('runLineAndAdvance'),
      run('runLineAndAdvance'),
      run('runLineAndAdvance'),
    ]);
    assert.equal(editor.selection.active.line, 9);
    await run('runLineAndAdvance');
    assert.deepEqual(await written(out), ['one', 'two', 'three']);
  });

  it("works in the workspace folder, also for a file in a subfolder, and names the user's file", async () => {
    await openPython(
      `import os\ndef f(): pass\n${say(out, 'os.getcwd()', 'f.__code__.co_filename', 'f.__code__.co_firstlineno', '"end"')}\n`,
      'deep/er/where.py',
    );
    await run('runFile');
    const file = inFolder('deep/er/where.py');
    assert.deepEqual(await written(out), [fs.realpathSync(inFolder('.')), file, '2']);
  });

  it('runs an untitled document in the first folder', async () => {
    await openPython(`import os\n${say(out, 'os.getcwd()', '"end"')}\n`);
    await run('runFile');
    assert.deepEqual(await written(out), [fs.realpathSync(inFolder('.'))]);
  });

  it('runs what is typed, saved or not, and saves nothing', async () => {
    const files = vscode.workspace.getConfiguration('files');
    await files.update('autoSave', 'off', vscode.ConfigurationTarget.Workspace);
    const editor = await openPython('', 'unsaved.py');
    await editor.edit((edit) =>
      edit.insert(new vscode.Position(0, 0), say(out, '"typed"', '"end"')),
    );
    await run('runFile');
    assert.deepEqual(await written(out), ['typed']);
    assert.equal(editor.document.isDirty, true);
    await files.update('autoSave', undefined, vscode.ConfigurationTarget.Workspace);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it("uses the setting's interpreter and activates its environment, so that python is that Python", async () => {
    const venv = inFolder('env with é');
    execFileSync('python3', ['-m', 'venv', '--without-pip', venv]);
    await configure('python.interpreter', '${workspaceFolder}/env with é');
    const which = 'subprocess.check_output(["sh", "-c", "command -v python"], text=True).strip()';
    await openPython(
      `import sys, subprocess\n${say(out, 'sys.executable', 'sys.prefix', which, '"end"')}\n`,
      'venv.py',
    );
    await run('runFile');
    const python = path.join(venv, 'bin/python');
    assert.deepEqual(await written(out), [python, venv, python]);
  });

  it('passes nothing of the editor to the kernel', async () => {
    const names =
      '[n for n in os.environ if n.startswith(("VSCODE_", "ELECTRON_")) or n == "NODE_OPTIONS"]';
    await openPython(`import os\n${say(out, names, '"end"')}\n`, 'environ.py');
    await run('runFile');
    assert.deepEqual(await written(out), ['[]']);
  });

  it('with a kernel per call keeps nothing between runs', async () => {
    await configure('kernelMode', 'per-call');
    const editor = await openPython(
      `kept = 1\n${say(out, '"kept" in globals()', '"end"')}\n`,
      'percall.py',
    );
    select(editor, 0);
    await run('runSelection');
    select(editor, 1);
    await run('runSelection');
    assert.deepEqual(await written(out), ['False']);
  });
});
