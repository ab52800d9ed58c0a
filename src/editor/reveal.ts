import * as vscode from 'vscode';

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
