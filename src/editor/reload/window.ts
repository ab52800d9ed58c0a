import * as vscode from 'vscode';

/**
 * What a window shows, as the same string after a reload: the saved workspace, else its folders. Windows that show the
 * same are the same to it. Empty windows differ from all others, and none of them is found again.
 */
export function workspaceIdentity(newId: () => string): string {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  if (workspaceFile && workspaceFile.scheme !== 'untitled') return workspaceFile.toString();
  const folders = workspaceFolders?.map(({ uri }) => uri.toString()) ?? [];
  return folders.length > 0 ? folders.sort().join('\n') : `empty:${newId()}`;
}
