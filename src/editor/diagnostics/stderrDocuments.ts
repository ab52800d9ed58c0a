import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { SessionSnapshot } from '../../pool/types';

const SCHEME = 'holdfast-stderr';

/** What kernels' processes have written on descriptor 2 themselves, as documents that nobody can change. */
export class StderrDocuments implements vscode.TextDocumentContentProvider, Disposable {
  private readonly store = new DisposableStore();
  private readonly changed = this.store.add(new vscode.EventEmitter<vscode.Uri>());
  private readonly texts = new Map<string, string>();

  readonly onDidChange = this.changed.event;

  constructor() {
    this.store.add(vscode.workspace.registerTextDocumentContentProvider(SCHEME, this));
    this.store.add(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === SCHEME) this.texts.delete(uri.toString());
      }),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  /** Shows a text as the stderr of a session's kernel; one that is open shows it instead of what it showed before. */
  async show({ id, pid }: SessionSnapshot, label: string, text: string): Promise<void> {
    const name = pid === undefined ? label : `${label} ${pid}`;
    const uri = vscode.Uri.from({
      scheme: SCHEME,
      path: `/${name.replaceAll(/[\\/]/g, ' ')} stderr.log`,
      query: id,
    });
    this.texts.set(uri.toString(), text === '' ? NOTHING : text);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.store.dispose();
  }
}

const NOTHING = `Nothing was written on this kernel's standard error by its process itself, or by one that it started.
What Python code prints to sys.stderr stands in the panel, with its run.
`;
