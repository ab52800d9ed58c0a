import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { HoldfastError } from '../../base/errors';
import { assertTrusted } from '../trust';
import type { BackgroundPort } from './backgroundPort';
import { Clients, nameOfOwner, type ClientsParts, type KnownExtension } from './clients';

type Wiring = Omit<
  ClientsParts,
  'assertAllowed' | 'defaultFolder' | 'extension' | 'onDidChangeExtensions' | 'background'
> & { readonly background?: BackgroundPort };

/** What `activate` hands to other extensions. */
export function provideApi({ background = noBackground, ...parts }: Wiring): Clients {
  return new Clients({
    ...parts,
    background,
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

const noBackground: BackgroundPort = {
  launch: () => Promise.reject(new HoldfastError('closed', 'Nothing runs in the background here.')),
  peek(executionId) {
    throw new HoldfastError('run_not_found', `There is no background run ${executionId}.`);
  },
  list: () => [],
  interrupt: (executionId) => Promise.resolve(noBackground.peek(executionId)),
  kill: (executionId) => Promise.resolve(noBackground.peek(executionId)),
  onDidChange: () => ({ dispose() {} }),
};
