import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';

describe('Activation', () => {
  it('comes up in a real extension host', async () => {
    const extension = vscode.extensions.getExtension('holdfast.holdfast');
    assert.ok(extension, 'the extension is found');
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('registers every command that package.json contributes', async () => {
    const extension = vscode.extensions.getExtension('holdfast.holdfast');
    const manifest = extension?.packageJSON as {
      contributes?: { commands?: { command: string }[] };
    };
    const contributed = (manifest.contributes?.commands ?? []).map(({ command }) => command);
    assert.notEqual(contributed.length, 0);
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      contributed.filter((command) => !registered.has(command)),
      [],
    );
  });
});
