import * as vscode from 'vscode';
import type { SessionSnapshot } from '../../pool/types';
import { menuOf, type MenuContext, type MenuEntry } from './sessionMenu';
import { languageInWords, stateInWords } from './words';

type LabelOf = (session: SessionSnapshot) => string;

/** The session that is meant: the only one, else a person's pick. Undefined: there is none, or the person left. */
export async function pickSession(
  sessions: readonly SessionSnapshot[],
  labelOf: LabelOf,
  placeHolder: string,
): Promise<SessionSnapshot | undefined> {
  return sessions.length <= 1 ? sessions[0] : choose(sessions, labelOf, { placeHolder });
}

/** Asks which session is to go for another one's sake, also where there is only one. */
export async function pickToFree(
  sessions: readonly SessionSnapshot[],
  labelOf: LabelOf,
): Promise<SessionSnapshot | undefined> {
  if (sessions.length === 0) {
    void vscode.window.showInformationMessage('Everything that takes a slot is stopping already.');
    return undefined;
  }
  return choose(sessions, labelOf, {
    title: 'Free a Slot',
    placeHolder: 'Which session is to stop? Its variables will be gone.',
  });
}

async function choose(
  sessions: readonly SessionSnapshot[],
  labelOf: LabelOf,
  options: vscode.QuickPickOptions,
): Promise<SessionSnapshot | undefined> {
  const now = Date.now();
  const items = sessions.map((session) => ({
    label: labelOf(session),
    description: `${stateInWords(session, now)} · ${languageInWords(session)}`,
    detail: session.cwd,
    session,
  }));
  return (await vscode.window.showQuickPick(items, options))?.session;
}

interface SessionMenuActions {
  use(session: SessionSnapshot): void;
  useDefault(): void;
}

export async function showSessionMenu(
  context: MenuContext,
  actions: SessionMenuActions,
): Promise<void> {
  const { current, isWaiting, now, labelOf } = context;
  const items = menuOf(context).map((entry) => ({ ...itemOf(entry), entry }));
  const title = isWaiting
    ? 'Waits for a kernel slot'
    : current
      ? `${labelOf(current)}: ${stateInWords(current, now)}`
      : 'No session yet';
  const chosen = await vscode.window.showQuickPick(items, { title });
  if (chosen) await perform(chosen.entry, current, actions);
}

function itemOf(entry: MenuEntry): vscode.QuickPickItem {
  switch (entry.kind) {
    case 'separator':
      return { label: entry.label, kind: vscode.QuickPickItemKind.Separator };
    case 'use':
      return {
        label: entry.label,
        description: entry.description,
        detail: entry.session.cwd,
      };
    case 'command':
    case 'useDefault':
      return { label: entry.label };
  }
}

async function perform(
  entry: MenuEntry,
  current: SessionSnapshot | undefined,
  actions: SessionMenuActions,
): Promise<void> {
  switch (entry.kind) {
    case 'command': {
      const argument = current ? [current.id] : [];
      await vscode.commands.executeCommand(`holdfast.${entry.id}`, ...argument);
      return;
    }
    case 'use':
      return actions.use(entry.session);
    case 'useDefault':
      return actions.useDefault();
    case 'separator':
      return;
  }
}
