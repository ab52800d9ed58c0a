import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { systemClock } from '../../base/clock';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import { parseFromPanel, type FromPanel, type ToPanel } from '../../webview/protocol';
import { PanelFeed, type FeedOptions } from './feed';
import { panelPage } from './page';
import type { Transcript } from './transcript';

const PANEL_VIEW = 'holdfast.panel';

/** What a person can do in the panel beyond looking. A rejection is logged. */
interface PanelActions {
  /** Without a key the panel shows no session yet: the caller chooses one. */
  run(code: string, sessionKey: string | undefined): void | Promise<void>;
  interrupt(sessionKey: string): void | Promise<void>;
  /** What the session's prelude offers; without a key the caller chooses one. */
  showHelpers(sessionKey: string | undefined): void | Promise<void>;
  /** Opens a file (absolute path or name of an untitled document) at a line, 1-based. */
  reveal(file: string, line: number): void | Promise<void>;
  /** The panel has come to sight. */
  opened(): void | Promise<void>;
  /** A session has come to sight in it. */
  shown(sessionKey: string): void | Promise<void>;
  /** The transcript of a session was cleared. */
  cleared(sessionKey: string): void | Promise<void>;
}

interface PanelOptions {
  readonly transcript: Transcript;
  readonly extensionUri: vscode.Uri;
  readonly actions: PanelActions;
  readonly log: Log;
  /** Key binding of "Run Selection or Line" as a person reads it, such as "Shift+Enter". */
  readonly runKey: string;
  readonly whyNoInput?: NonNullable<FeedOptions['whyNoInput']>;
}

export interface Panel extends Disposable {
  /** Brings the panel to sight without taking the focus; with a key, that session is shown in it. */
  show(sessionKey?: string): Promise<void>;
  /** Brings the panel to sight with this text written into its input line. */
  insert(text: string): Promise<void>;
  /** The session that is shown, or would be. */
  readonly shown: string | undefined;
  /** Why nothing can be run from the input line; undefined when it can. */
  disableInput(reason: string | undefined): void;
}

export function registerPanel(options: PanelOptions): Panel {
  return new PanelView(options);
}

class PanelView implements Panel, vscode.WebviewViewProvider {
  private readonly store = new DisposableStore();
  private readonly feed: PanelFeed;
  private view: vscode.WebviewView | undefined;
  private readonly whenReady: ToPanel[] = [];

  constructor(private readonly options: PanelOptions) {
    const { transcript, runKey, whyNoInput } = options;
    this.feed = this.store.add(
      new PanelFeed({
        transcript,
        runKey,
        ...(whyNoInput && { whyNoInput }),
        clock: systemClock,
        post: (update) => this.post(update),
        onConnect: () => this.tell('opened', options.actions.opened()),
        onShow: (sessionKey) => this.tell('shown', options.actions.shown(sessionKey)),
      }),
    );
    this.store.add(
      vscode.window.registerWebviewViewProvider(PANEL_VIEW, this, {
        webviewOptions: { retainContextWhenHidden: false },
      }),
    );
    this.store.add(
      transcript.onDidChange(({ what, sessionKey }) => {
        this.showBadge();
        // A run waits for a person, who may not have asked for it, and sees nothing of it.
        if (what === 'ask' && !this.view?.visible) this.tell('ask', this.show(sessionKey));
      }),
    );
  }

  get shown(): string | undefined {
    return this.feed.shown;
  }

  async show(sessionKey?: string): Promise<void> {
    this.feed.show(sessionKey);
    if (this.view !== undefined) this.view.show(true);
    else await vscode.commands.executeCommand(`${PANEL_VIEW}.focus`, { preserveFocus: true });
  }

  async insert(text: string): Promise<void> {
    await vscode.commands.executeCommand(`${PANEL_VIEW}.focus`);
    const message: ToPanel = { type: 'insertInput', text };
    if (this.feed.isConnected) this.post(message);
    else this.whenReady.push(message);
  }

  disableInput(reason: string | undefined): void {
    this.feed.disableInput(reason);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const { extensionUri } = this.options;
    const { webview } = view;
    const store = this.store.add(new DisposableStore());
    store.add(view.onDidDispose(() => this.closed(view, store)));
    store.add(webview.onDidReceiveMessage((message: unknown) => this.receive(message)));
    store.add(
      view.onDidChangeVisibility(() => {
        if (!view.visible) this.feed.disconnect();
      }),
    );
    webview.options = {
      enableScripts: true,
      localResourceRoots: ['dist', 'media'].map((dir) => vscode.Uri.joinPath(extensionUri, dir)),
    };
    webview.html = panelPage({
      nonce: randomBytes(16).toString('base64'),
      cspSource: webview.cspSource,
      asset: (path) => webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, path)).toString(),
    });
    this.showBadge();
  }

  dispose(): void {
    this.store.dispose();
  }

  private closed(view: vscode.WebviewView, store: DisposableStore): void {
    store.dispose();
    if (this.view !== view) return;
    this.view = undefined;
    this.feed.disconnect();
  }

  private post(message: ToPanel): void {
    // False means that the page went away meanwhile; the next one asks for everything.
    void this.view?.webview.postMessage(message);
  }

  private receive(message: unknown): void {
    const request = parseFromPanel(message);
    if (request === undefined) {
      this.options.log.warn('The panel sent a message that is not understood.');
      return;
    }
    this.tell(request.type, this.perform(request));
  }

  private tell(what: string, done: void | Promise<void>): void {
    done?.catch((error: unknown) => {
      this.options.log.error(`The panel's "${what}" failed`, error);
    });
  }

  private async perform(request: FromPanel): Promise<void> {
    const { actions, transcript } = this.options;
    switch (request.type) {
      case 'ready':
        this.feed.connect();
        for (const held of this.whenReady.splice(0)) this.post(held);
        return;
      case 'ack':
        return this.feed.acknowledge(request.seq);
      case 'show':
        return this.feed.show(request.sessionKey);
      case 'clear':
        transcript.clear(request.sessionKey);
        return actions.cleared(request.sessionKey);
      case 'answer':
        return transcript.answer(request.ask, request.text);
      case 'run':
        return actions.run(request.code, request.sessionKey ?? undefined);
      case 'interrupt':
        return actions.interrupt(request.sessionKey);
      case 'helpers':
        return actions.showHelpers(request.sessionKey ?? undefined);
      case 'reveal':
        return actions.reveal(request.file, request.line);
      case 'copy':
        return vscode.env.clipboard.writeText(request.text);
      case 'problem':
        return this.options.log.warn(`The panel could not show something. ${request.text}`);
    }
  }

  private showBadge(): void {
    if (this.view === undefined) return;
    const value = this.options.transcript.openAsks;
    if ((this.view.badge?.value ?? 0) === value) return;
    const tooltip = value === 1 ? 'A run waits for input' : `${value} runs wait for input`;
    this.view.badge = value === 0 ? undefined : { value, tooltip };
  }
}
