import * as vscode from 'vscode';
import type { Runs } from './runs';
import type { SessionSnapshot } from '../pool/types';

/** Opens a file at a line, 1-based: an absolute path, or the name of an untitled document. */
export async function reveal(file: string, line: number): Promise<void> {
  const untitled = vscode.workspace.textDocuments.find(
    (document) => document.isUntitled && document.uri.path === file,
  );
  const document = untitled ?? (await vscode.workspace.openTextDocument(vscode.Uri.file(file)));
  const position = new vscode.Position(Math.max(0, line - 1), 0);
  await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(position, position),
    preview: true,
  });
}

/** Shows the code that runs in a session, where this window knows it, else the session's folder. */
export async function revealSession(session: SessionSnapshot, runs: Runs): Promise<void> {
  const { state, cwd } = session;
  const source = state.kind === 'busy' ? runs.get(state.execution.id)?.source : undefined;
  return source ? reveal(source.file, source.line) : revealFolder(vscode.Uri.file(cwd));
}

async function revealFolder(folder: vscode.Uri): Promise<void> {
  if (vscode.workspace.getWorkspaceFolder(folder)) {
    await vscode.commands.executeCommand('revealInExplorer', folder);
    return;
  }
  // A browser has no file manager to show it in.
  const known = await vscode.commands.getCommands();
  if (known.includes('revealFileInOS'))
    await vscode.commands.executeCommand('revealFileInOS', folder);
  else void vscode.window.showInformationMessage(`The session works in ${folder.fsPath}.`);
}
