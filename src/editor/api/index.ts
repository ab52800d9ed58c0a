import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { assertTrusted } from '../trust';
import { Clients, nameOfOwner, type ClientsParts, type KnownExtension } from './clients';

type Wiring = Omit<
  ClientsParts,
  'assertAllowed' | 'defaultFolder' | 'extension' | 'onDidChangeExtensions'
>;

/** What `activate` hands to other extensions. */
export function provideApi(parts: Wiring): Clients {
  return new Clients({
    ...parts,
    assertAllowed: assertTrusted,
    defaultFolder: () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir(),
    extension: knownExtension,
    onDidChangeExtensions: (listener) => vscode.extensions.onDidChange(() => listener()),
  });
}

/** What an owner is called, where it is an extension. */
export function nameOfExtension(ownerId: string): string | undefined {
  return nameOfOwner(ownerId, knownExtension);
}

function knownExtension(id: string): KnownExtension | undefined {
  const found = vscode.extensions.getExtension(id);
  if (!found) return undefined;
  const { displayName } = found.packageJSON as { readonly displayName?: unknown };
  return { id: found.id, displayName: typeof displayName === 'string' ? displayName : found.id };
}
