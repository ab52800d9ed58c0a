import * as vscode from 'vscode';
import { HoldfastError } from '../base/errors';

/** Throws in a workspace that is not trusted: there, nothing runs and no interpreter is looked for. */
export function assertTrusted(): void {
  if (vscode.workspace.isTrusted) return;
  throw new HoldfastError(
    'untrusted_workspace',
    'Holdfast runs nothing in a workspace that is not trusted. Trust it to run code here.',
  );
}
