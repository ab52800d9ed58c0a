import * as vscode from 'vscode';
import type { Clock } from '../../base/clock';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { Event } from '../../base/event';
import type { SessionSnapshot } from '../../pool/types';
import type { Row } from './row';
import { treeRows, type RowContext } from './rows';
import { RowTree } from './rowTree';
import type { SessionBook } from './sessionBook';
import type { SessionsModel } from './sessionsModel';

const TICK_MS = 1_000;
/** Ages are shown to the minute. */
const SLOW_TICK_MS = 30_000;

/**
 * Renders what the model says, and nothing else. An element is a row's id, so that the view keeps what is expanded and
 * selected; only rows that differ are refreshed. Elapsed times move on while somebody can see them.
 */
export class SessionsTree implements vscode.TreeDataProvider<string>, Disposable {
  private readonly store = new DisposableStore();
  private readonly changed = this.store.add(new vscode.EventEmitter<string | undefined>());
  private readonly view: vscode.TreeView<string>;
  private readonly rows = new RowTree();
  private tick: Disposable | undefined;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly model: SessionsModel,
    book: SessionBook,
    private readonly context: Omit<RowContext, 'now'>,
    private readonly clock: Clock,
    ...others: readonly Event<void>[]
  ) {
    this.view = this.store.add(
      vscode.window.createTreeView('holdfast.sessions', { treeDataProvider: this }),
    );
    this.store.add(model.onDidChange(() => this.refresh()));
    this.store.add(book.onDidChange(() => this.refresh()));
    for (const onDidChange of others) this.store.add(onDidChange(() => this.refresh()));
    this.store.add(this.view.onDidChangeVisibility(() => this.refresh()));
  }

  getChildren(element?: string): string[] {
    if (element === undefined) return [...this.rows.top];
    return this.rows.get(element)?.children.map((row) => row.id) ?? [];
  }

  getParent(element: string): string | undefined {
    return this.rows.parentOf(element);
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
    const capacity = this.model.capacity();
    const rows = treeRows(sessions, capacity, { ...this.context, now: this.clock.now() });
    for (const id of this.rows.replace(rows)) this.changed.fire(id);
    if (rows.length === 0) return;
    const isFast =
      sessions.some(({ state, silence }) => silence || showsTime(state.kind)) ||
      this.context.inOwnKernels().length > 0 ||
      this.context.backgroundRuns?.().some(({ status }) => status === 'running') ||
      (capacity !== undefined && capacity.waiting.length > 0);
    this.tick = this.clock.after(isFast ? TICK_MS : SLOW_TICK_MS, () => this.refresh());
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
