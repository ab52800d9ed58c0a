import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';

interface Manifest {
  readonly activationEvents: readonly string[];
  readonly extensionKind: readonly string[];
  readonly enabledApiProposals?: readonly string[];
  readonly capabilities: {
    readonly untrustedWorkspaces: {
      readonly supported: unknown;
      readonly restrictedConfigurations: readonly string[];
    };
    readonly virtualWorkspaces: { readonly supported: unknown };
  };
  readonly contributes: {
    readonly commands: readonly { command: string; category?: string }[];
    readonly keybindings: readonly { command: string; key: string; when: string }[];
    readonly menus: Readonly<Record<string, readonly { command: string }[]>>;
    readonly configuration: { readonly properties: Readonly<Record<string, unknown>> };
  };
}

function manifest(): Manifest {
  const extension = vscode.extensions.getExtension('holdfast.holdfast');
  assert.ok(extension);
  return extension.packageJSON as Manifest;
}

describe('The manifest', () => {
  it('wakes for Python, else once the start is over, works where the files are, and uses no proposed API', () => {
    assert.deepEqual(manifest().activationEvents, ['onLanguage:python', 'onStartupFinished']);
    assert.deepEqual(manifest().extensionKind, ['workspace']);
    assert.equal(manifest().enabledApiProposals, undefined);
  });

  it('lets no untrusted workspace choose an interpreter, a prelude or an environment', () => {
    const { untrustedWorkspaces, virtualWorkspaces } = manifest().capabilities;
    assert.equal(untrustedWorkspaces.supported, 'limited');
    assert.deepEqual(untrustedWorkspaces.restrictedConfigurations, [
      'holdfast.python.interpreter',
      'holdfast.python.prelude',
      'holdfast.environment',
      'holdfast.envFile',
    ]);
    assert.equal(virtualWorkspaces.supported, false);
  });

  it('binds keys only in the text of a Python editor', () => {
    const bound = manifest().contributes.keybindings;
    assert.ok(bound.length >= 2);
    for (const { key, when } of bound) {
      for (const part of [
        'editorTextFocus',
        'editorLangId == python',
        '!notebookEditorFocused',
        '!findInputFocussed',
        '!replaceInputFocussed',
      ])
        assert.ok(when.includes(part), `${key}: ${part}`);
      if (key === 'shift+enter') assert.ok(when.startsWith('config.holdfast.shiftEnter && '), key);
    }
  });

  it('has every command of its menus and keys, each in one category', () => {
    const { commands, menus, keybindings } = manifest().contributes;
    const known = new Set(commands.map(({ command }) => command));
    const used = [...Object.values(menus).flat(), ...keybindings].map(({ command }) => command);
    assert.deepEqual(
      used.filter((command) => !known.has(command)),
      [],
    );
    for (const { command, category } of commands) assert.equal(category, 'Holdfast', command);
  });

  it('has settings whose defaults the editor knows', () => {
    const settings = vscode.workspace.getConfiguration();
    for (const name of Object.keys(manifest().contributes.configuration.properties))
      assert.notEqual(settings.inspect(name)?.defaultValue, undefined, name);
    assert.equal(settings.get('holdfast.shiftEnter'), false);
    assert.equal(settings.get('holdfast.kernelMode'), 'session');
  });
});
