import * as vscode from 'vscode';
import { logTo } from './editor/log';

export function activate(context: vscode.ExtensionContext): void {
  const channel = vscode.window.createOutputChannel('Holdfast', { log: true });
  context.subscriptions.push(channel);
  const log = logTo(channel);
  context.subscriptions.push(
    vscode.commands.registerCommand('holdfast.showLog', () => channel.show(true)),
    vscode.window.createTreeView('holdfast.sessions', {
      treeDataProvider: {
        getChildren: (): vscode.TreeItem[] => [],
        getTreeItem: (item: vscode.TreeItem) => item,
      },
    }),
  );
  log.info('Holdfast is ready.');
}
