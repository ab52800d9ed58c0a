import * as vscode from 'vscode';
import type { Clock } from '../../base/clock';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { SessionSnapshot } from '../../pool/types';
import { changedRows, sessionRows, type Row, type RowContext } from './rows';
import type { SessionsModel } from './sessionsModel';

const TICK_MS = 1000;

/**
 * Renders what the model says, and nothing else. An element is a row's id, so that the view keeps what is expanded and
 * selected; only rows that differ are refreshed. Elapsed times move on while somebody can see them.
 */
export class SessionsTree implements vscode.TreeDataProvider<string>, Disposable {
  private readonly store = new DisposableStore();
  private readonly changed = this.store.add(new vscode.EventEmitter<string | undefined>());
  private readonly view: vscode.TreeView<string>;
  private rows = new Map<string, Row>();
  private parents = new Map<string, string>();
  private top: readonly string[] = [];
  private tick: Disposable | undefined;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly model: SessionsModel,
    private readonly context: Omit<RowContext, 'now'>,
    private readonly clock: Clock,
  ) {
    this.view = this.store.add(
      vscode.window.createTreeView('holdfast.sessions', { treeDataProvider: this }),
    );
    this.store.add(model.onDidChange(() => this.refresh()));
    this.store.add(this.view.onDidChangeVisibility(() => this.refresh()));
  }

  getChildren(element?: string): string[] {
    if (element === undefined) return [...this.top];
    return this.rows.get(element)?.children.map((row) => row.id) ?? [];
  }

  getParent(element: string): string | undefined {
    return this.parents.get(element);
  }

  getTreeItem(element: string): vscode.TreeItem {
    const row = this.rows.get(element);
    if (!row) return new vscode.TreeItem('');
    const item = new vscode.TreeItem(
      row.label,
      row.children.length > 0
        ? vscode.TreeItemCollapsibleState.Expanded
        : vscode.TreeItemCollapsibleState.None,
    );
    item.id = row.id;
    item.description = row.description;
    item.contextValue = row.contextValue;
    item.accessibilityInformation = { label: row.spoken };
    item.iconPath = new vscode.ThemeIcon(
      row.icon.name,
      row.icon.color === undefined ? undefined : new vscode.ThemeColor(row.icon.color),
    );
    item.tooltip = tooltip(row);
    return item;
  }

  dispose(): void {
    this.tick?.dispose();
    this.store.dispose();
  }

  private refresh(): void {
    this.tick?.dispose();
    this.tick = undefined;
    // Whoever cannot see the view misses nothing: becoming visible refreshes it.
    if (!this.view.visible) return;
    const sessions = this.model.sessions();
    const before = this.rows;
    const wasTop = this.top;
    const rows = sessionRows(sessions, { ...this.context, now: this.clock.now() });
    this.rows = new Map(rows.flatMap((row) => [row, ...row.children]).map((row) => [row.id, row]));
    this.parents = new Map(rows.flatMap((row) => row.children.map((child) => [child.id, row.id])));
    this.top = rows.map((row) => row.id);
    if (wasTop.join('\n') !== this.top.join('\n')) this.changed.fire(undefined);
    else
      for (const id of rows.flatMap((row) => changedRows(before.get(row.id), row)))
        this.changed.fire(id);
    if (sessions.some(({ state }) => showsTime(state.kind)))
      this.tick = this.clock.after(TICK_MS, () => this.refresh());
  }
}

function showsTime(kind: SessionSnapshot['state']['kind']): boolean {
  return kind === 'busy' || kind === 'stopping' || kind === 'stopUnconfirmed';
}

function tooltip(row: Row): vscode.MarkdownString | string {
  if (row.details.length === 0) return row.spoken;
  const text = new vscode.MarkdownString();
  text.appendMarkdown('**').appendText(row.label).appendMarkdown('**\n\n');
  for (const [name, value] of row.details)
    text.appendMarkdown(`${name}: `).appendText(value).appendMarkdown('  \n');
  return text;
}
