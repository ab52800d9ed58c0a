import * as vscode from 'vscode';
import type { Clock } from '../base/clock';
import { DisposableStore, type Disposable } from '../base/disposable';
import type { SessionSnapshot, WaiterSnapshot } from '../pool/types';
import { activePython, placeOf } from './place';
import type { ActiveRun, Runs } from './runs';
import type { SessionBook } from './sessions/sessionBook';
import type { SessionsModel } from './sessions/sessionsModel';
import { stateIcon } from './sessions/icons';
import { sessionKeyOf } from './sessions/target';
import { duration, languageInWords, stateInWords } from './sessions/words';

const TICK_MS = 1000;

/** The session of the Python file in front, and what it is doing. */
export class StatusBar implements Disposable {
  private readonly store = new DisposableStore();
  private readonly item: vscode.StatusBarItem;
  private tick: Disposable | undefined;

  constructor(
    private readonly model: SessionsModel,
    private readonly book: SessionBook,
    private readonly runs: Runs,
    private readonly clock: Clock,
  ) {
    this.item = this.store.add(
      vscode.window.createStatusBarItem('holdfast.session', vscode.StatusBarAlignment.Right, 100.5),
    );
    this.item.name = 'Holdfast Session';
    this.item.command = 'holdfast.sessionActions';
    this.store.add(model.onDidChange(() => this.render()));
    this.store.add(book.onDidChange(() => this.render()));
    this.store.add(runs.onDidChange(() => this.render()));
    this.store.add(vscode.window.onDidChangeActiveTextEditor(() => this.render()));
    // Opened anew also when a document's language changes.
    this.store.add(vscode.workspace.onDidOpenTextDocument(() => this.render()));
    this.store.add(vscode.workspace.onDidGrantWorkspaceTrust(() => this.render()));
    this.render();
  }

  private render(): void {
    this.tick?.dispose();
    this.tick = undefined;
    const editor = activePython();
    if (!editor || !vscode.workspace.isTrusted) return this.item.hide();
    const { document, folder } = placeOf(editor.document);
    const target = this.book.current(document, folder);
    const key = target && sessionKeyOf(target);
    const session = key === undefined ? undefined : this.model.withKey(key);
    const waiter = key === undefined ? undefined : this.model.waiterFor(key);
    const own = key === undefined ? undefined : this.ownKernelRun(key);
    if (waiter) this.showWaiting(waiter);
    else if (own) this.showOwnKernel(own);
    else this.show(session, session && this.book.labelOf(session));
    this.item.show();
    if (waiter || own || session?.silence || session?.state.kind === 'busy')
      this.tick = this.clock.after(TICK_MS, () => this.render());
  }

  dispose(): void {
    this.tick?.dispose();
    this.store.dispose();
  }

  private showWaiting(waiter: WaiterSnapshot): void {
    const waits = `waits for a slot ${duration(this.clock.now() - waiter.since)}`;
    const label = this.book.labelOf(waiter);
    this.item.text = `$(watch) ${waits}`;
    this.item.tooltip = `Holdfast session ${label}: all kernel slots are taken. The Sessions view says by whom. Click for what you can do.`;
    this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
    this.item.accessibilityInformation = { label: `Holdfast session ${label} ${waits}` };
  }

  private ownKernelRun(key: string): ActiveRun | undefined {
    return this.runs.inSession(key).find(({ inOwnKernel }) => inOwnKernel);
  }

  private showOwnKernel({ startedAt, firstLine }: ActiveRun): void {
    const doing =
      startedAt === undefined ? 'starting' : `running ${duration(this.clock.now() - startedAt)}`;
    this.item.text = `$(sync~spin) ${doing}`;
    this.item.tooltip = `In a kernel of its own: ${firstLine}. Click for what you can do.`;
    this.item.backgroundColor = undefined;
    this.item.accessibilityInformation = { label: `Holdfast: ${doing} in a kernel of its own` };
  }

  private show(session: SessionSnapshot | undefined, label: string | undefined): void {
    if (!session) {
      this.item.text = '$(circle-outline) No session';
      this.item.tooltip = 'No Holdfast session yet: the first run starts one.';
      this.item.backgroundColor = undefined;
      this.item.accessibilityInformation = { label: 'Holdfast: no session yet' };
      return;
    }
    const doing = stateInWords(session, this.clock.now());
    const language = languageInWords(session);
    this.item.text = `$(${stateIcon(session).name}) ${language} ${doing}`;
    this.item.tooltip = `Holdfast session ${label}: ${doing}. Click for what you can do.`;
    this.item.accessibilityInformation = {
      label: `Holdfast session ${label}, ${language}, ${doing}`,
    };
    this.item.backgroundColor = background(session);
  }
}

function background({ state, silence }: SessionSnapshot): vscode.ThemeColor | undefined {
  if (state.kind === 'dead') return new vscode.ThemeColor('statusBarItem.errorBackground');
  if (silence || state.kind === 'stopUnconfirmed')
    return new vscode.ThemeColor('statusBarItem.warningBackground');
  return undefined;
}
