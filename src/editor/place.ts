import { homedir } from 'node:os';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import type { Place } from './runs';

/**
 * Where a document's code runs: its workspace folder; for a file outside of all of them, its own folder; for one that is
 * not on disk, the first workspace folder, else the home directory.
 */
export function placeOf(document: vscode.TextDocument | undefined): Place {
  const uri = document?.uri;
  const own = uri && vscode.workspace.getWorkspaceFolder(uri);
  const outside = uri?.scheme === 'file' && !own ? dirname(uri.fsPath) : undefined;
  const first = vscode.workspace.workspaceFolders?.[0];
  return {
    document: uri?.toString() ?? '',
    folder: own?.uri.fsPath ?? outside ?? first?.uri.fsPath ?? homedir(),
  };
}

/** The Python document that a person is in. */
export function activePython(): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.languageId === 'python' ? editor : undefined;
}
