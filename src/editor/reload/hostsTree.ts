import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { FoundHost } from '../../hosting/discover';
import type { Hosts } from './hosts';

/** Kernel hosts of other windows, and of windows that are gone. Its view is there only when there are any. */
export class HostsTree implements vscode.TreeDataProvider<number>, Disposable {
  private readonly store = new DisposableStore();
  private readonly changed = this.store.add(new vscode.EventEmitter<undefined>());

  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly hosts: Hosts) {
    this.store.add(hosts.onDidChange(() => this.refresh()));
    this.store.add(vscode.window.createTreeView('holdfast.hosts', { treeDataProvider: this }));
    // Nothing announces the hosts of others: looked for when a person comes back to this window.
    this.store.add(
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) void hosts.look();
      }),
    );
  }

  getChildren(element?: number): number[] {
    return element === undefined ? this.hosts.others.map(({ pid }) => pid) : [];
  }

  getTreeItem(pid: number): vscode.TreeItem {
    const host = this.hosts.others.find((each) => each.pid === pid);
    const item = new vscode.TreeItem(host ? nameOf(host) : '');
    if (!host) return item;
    item.id = String(pid);
    item.description = stateOf(host);
    item.iconPath = new vscode.ThemeIcon(host.isOrphan ? 'debug-disconnect' : 'window');
    item.contextValue = ['holdfast.host', ...abilitiesOf(host)].join(' ');
    item.tooltip = `Kernel host ${pid}\n${host.announced.workspace}`;
    return item;
  }

  dispose(): void {
    this.store.dispose();
  }

  private refresh(): void {
    const some = this.hosts.others.length > 0;
    void vscode.commands.executeCommand('setContext', 'holdfast.hasOtherHosts', some);
    this.changed.fire(undefined);
  }
}

function nameOf({ announced, isOfWorkspace }: FoundHost): string {
  const { kernels } = announced;
  const count = kernels === 1 ? '1 kernel' : `${kernels} kernels`;
  return isOfWorkspace ? `${count} of this workspace` : `${count} of another workspace`;
}

function stateOf({ announced: { client } }: FoundHost): string {
  switch (client.state) {
    case 'attached':
    case 'waiting':
      return 'held by another window';
    case 'leaving':
      return 'stopping';
    case 'gone':
      return `its window is gone, kept until ${new Date(client.until).toLocaleTimeString()}`;
  }
}

/** What a person can do to it, as words that menus look for. */
function abilitiesOf({ isOrphan, isFree, isOfWorkspace }: FoundHost): readonly string[] {
  const adoptable = isFree && isOfWorkspace ? ['adoptable'] : [];
  return isOrphan ? [...adoptable, 'dismissible'] : [];
}
