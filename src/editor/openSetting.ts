import * as vscode from 'vscode';

/** Shows one setting in the settings editor. */
export async function openSetting(id: string): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', id);
}
