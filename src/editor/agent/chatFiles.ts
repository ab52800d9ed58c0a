import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable';

/** Ids that can stand in a file's name without meaning another place. */
const fileName = /^[\w-]+$/;

/** Beyond this a chat's file is not read for its title. */
const LONGEST_BYTES = 8 * 2 ** 20;

interface ChatFilesListener {
  /** The editor keeps chats here now: some may have been written already. */
  onAppeared(): void;
  onWritten(sessionId: string): void;
  onDeleted(sessionId: string): void;
}

/**
 * The editor's files of its chats, one each, named by the chat's id. They are beside an extension's own storage where editor
 * and extension host share a disk; elsewhere nothing is ever seen here.
 */
export class ChatFiles implements Disposable {
  private readonly store = new DisposableStore();

  constructor(
    private readonly folder: vscode.Uri,
    private readonly told: ChatFilesListener,
  ) {
    void isMissing(folder).then((missing) => (missing ? this.awaitFolder() : this.watchFiles()));
  }

  /** The text of a chat's file; undefined where there is none to be read. */
  async read(sessionId: string): Promise<string | undefined> {
    if (!fileName.test(sessionId)) return undefined;
    const file = vscode.Uri.joinPath(this.folder, `${sessionId}.jsonl`);
    try {
      const { size } = await vscode.workspace.fs.stat(file);
      if (size > LONGEST_BYTES) return undefined;
      return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
    } catch (error) {
      // A chat that is not kept yet, or that another machine keeps.
      if (error instanceof vscode.FileSystemError) return undefined;
      throw error;
    }
  }

  dispose(): void {
    this.store.dispose();
  }

  /** It comes with the first chat that is kept, and a watcher of what is not there yet notices late, or never. */
  private async awaitFolder(): Promise<void> {
    const parent = vscode.Uri.joinPath(this.folder, '..');
    const name = this.folder.path.split('/').at(-1) ?? '';
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(parent, name),
    );
    const waiting = this.store.add(new DisposableStore());
    waiting.add(watcher);
    const appeared = (): void => {
      if (waiting.isDisposed) return;
      waiting.dispose();
      this.watchFiles();
      this.told.onAppeared();
    };
    waiting.add(watcher.onDidCreate(appeared));
    // It may have come before the watcher was there.
    if (!(await isMissing(this.folder))) appeared();
  }

  private watchFiles(): void {
    const { told } = this;
    const files = new vscode.RelativePattern(this.folder, '*.jsonl');
    const watcher = this.store.add(vscode.workspace.createFileSystemWatcher(files));
    const idOf = (file: vscode.Uri): string => /([^/]*)\.jsonl$/.exec(file.path)?.[1] ?? '';
    this.store.add(watcher.onDidCreate((file) => told.onWritten(idOf(file))));
    this.store.add(watcher.onDidChange((file) => told.onWritten(idOf(file))));
    this.store.add(
      watcher.onDidDelete(async (file) => {
        // Written anew, a file may seem to go and come.
        if (await isMissing(file)) told.onDeleted(idOf(file));
      }),
    );
  }
}

/** Known not to be there: what can't be looked at is not missing. */
async function isMissing(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return false;
  } catch (error) {
    return error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
  }
}

/** Where the editor keeps the chats of this window. */
export function chatFolder({
  storageUri,
  globalStorageUri,
}: Pick<vscode.ExtensionContext, 'storageUri' | 'globalStorageUri'>): vscode.Uri {
  return storageUri
    ? vscode.Uri.joinPath(storageUri, '../chatSessions')
    : vscode.Uri.joinPath(globalStorageUri, '../emptyWindowChatSessions');
}
