import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable';

/** Ids that can stand in a file's name without meaning another place. */
const fileName = /^[\w-]+$/;

/** Beyond this a chat's file is not read for its title. */
const LONGEST_BYTES = 8 * 2 ** 20;

/**
 * The editor's files of its chats, one each, named by the chat's id. They are beside an extension's own storage where editor
 * and extension host share a disk; elsewhere nothing is ever seen here.
 */
export class ChatFiles implements Disposable {
  private readonly store = new DisposableStore();

  constructor(
    private readonly folder: vscode.Uri,
    told: { onWritten(sessionId: string): void; onDeleted(sessionId: string): void },
  ) {
    const files = new vscode.RelativePattern(folder, '*.jsonl');
    const watcher = this.store.add(vscode.workspace.createFileSystemWatcher(files));
    const idOf = (file: vscode.Uri): string => /([^/]*)\.jsonl$/.exec(file.path)?.[1] ?? '';
    this.store.add(watcher.onDidCreate((file) => told.onWritten(idOf(file))));
    this.store.add(watcher.onDidChange((file) => told.onWritten(idOf(file))));
    this.store.add(
      watcher.onDidDelete((file) => {
        // Written anew, a file may seem to go and come.
        vscode.workspace.fs.stat(file).then(undefined, () => told.onDeleted(idOf(file)));
      }),
    );
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
