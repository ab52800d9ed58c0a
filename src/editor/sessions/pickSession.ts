import * as vscode from 'vscode';
import type { SessionSnapshot } from '../../pool/types';
import { languageInWords, stateInWords } from './words';

/** The session that is meant: the only one, else a person's pick. Undefined: there is none, or the person left. */
export async function pickSession(
  sessions: readonly SessionSnapshot[],
  labelOf: (session: SessionSnapshot) => string,
  placeHolder: string,
): Promise<SessionSnapshot | undefined> {
  if (sessions.length <= 1) return sessions[0];
  const now = Date.now();
  const items = sessions.map((session) => ({
    label: labelOf(session),
    description: `${stateInWords(session, now)} · ${languageInWords(session)}`,
    detail: session.cwd,
    session,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.session;
}

interface MenuItem extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

export interface SessionMenuParts {
  readonly current: SessionSnapshot | undefined;
  /** Sessions that the file could use instead. */
  readonly others: readonly SessionSnapshot[];
  /** The file uses another session than its folder's own. */
  readonly isChosen: boolean;
  labelOf(session: SessionSnapshot): string;
  use(session: SessionSnapshot): void;
  useDefault(): void;
}

/** What a person can do about the session of the file in front. */
export async function sessionMenu(parts: SessionMenuParts): Promise<void> {
  const { current } = parts;
  const now = Date.now();
  const command = (id: string, label: string): MenuItem => ({
    label,
    run: () => vscode.commands.executeCommand(`holdfast.${id}`, ...(current ? [current.id] : [])),
  });
  const items: MenuItem[] = [];
  if (current?.state.kind === 'busy') items.push(command('interrupt', '$(debug-stop) Interrupt'));
  if (current)
    items.push(command('restart', '$(debug-restart) Restart'), command('kill', '$(trash) Kill'));
  items.push(command('showPanel', '$(output) Show Panel'));
  items.push({ label: 'Session of this file', kind: vscode.QuickPickItemKind.Separator });
  for (const session of parts.others)
    items.push({
      label: `$(arrow-swap) Use ${parts.labelOf(session)}`,
      description: `${stateInWords(session, now)} · ${languageInWords(session)}`,
      detail: session.cwd,
      run: () => parts.use(session),
    });
  if (parts.isChosen)
    items.push({ label: "$(home) Use the folder's own", run: () => parts.useDefault() });
  items.push(command('newSession', '$(add) New Session…'));
  const title = current
    ? `${parts.labelOf(current)}: ${stateInWords(current, now)}`
    : 'No session yet';
  const chosen = await vscode.window.showQuickPick(items, { title });
  await chosen?.run?.();
}
