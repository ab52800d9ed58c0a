import * as vscode from 'vscode';
import type { DisposableStore } from '../../base/disposable';
import type { BackgroundActions } from '../background/backgroundActions';
import type { BackgroundWork } from '../background/backgroundWork';
import { isBackground } from '../background/session';
import { registerPanel, type Panel } from '../panel/panelView';
import { activePython, placeOf } from '../place';
import type { Records } from '../records';
import { reveal } from '../reveal';
import type { Runs } from '../runs';
import type { SessionActions } from '../sessions/sessionActions';
import { targetOfKey, type SessionTarget } from '../sessions/target';
import type { Essentials } from './essentials';

interface PanelOptions extends Pick<Essentials, 'log' | 'book' | 'transcript'> {
  readonly store: DisposableStore;
  readonly extensionUri: vscode.Uri;
  readonly runs: Pick<Runs, 'run'>;
  readonly background: Pick<BackgroundWork, 'withKey'>;
  readonly actions: Pick<SessionActions, 'interrupt'>;
  readonly backgroundActions: Pick<BackgroundActions, 'interrupt'>;
  records(): Promise<Records>;
}

/** The panel, with an input line that is closed until the workspace is trusted. */
export function createPanel(options: PanelOptions): Panel {
  const { store, extensionUri, log, book, transcript } = options;
  const { runs, background, actions, backgroundActions, records } = options;
  const sessionOfKey = (key: string): SessionTarget | undefined => {
    const heads = transcript.sessions();
    const earlier = heads.find((head) => head.key === key && head.state === 'earlier');
    return book.withKey(key) ?? (earlier && targetOfKey(key, earlier.label));
  };
  const panel = store.add(
    registerPanel({
      ...{ transcript, extensionUri, log },
      whyNoInput: (key) =>
        isBackground(key) ? 'A background run has its kernel to itself.' : undefined,
      runKey: process.platform === 'darwin' ? '⌥⌘Enter' : 'Ctrl+Alt+Enter',
      actions: {
        run(code, sessionKey) {
          const known = sessionKey === undefined ? undefined : sessionOfKey(sessionKey);
          return runs.run({ code, to: known ?? placeOf(activePython()?.document) });
        },
        interrupt(sessionKey) {
          const run = background.withKey(sessionKey);
          return run ? backgroundActions.interrupt(run.executionId) : actions.interrupt(sessionKey);
        },
        async showHelpers(sessionKey) {
          await vscode.commands.executeCommand('holdfast.showHelpers', sessionKey);
        },
        reveal,
        opened: async () => (await records()).list(),
        shown: async (sessionKey) => (await records()).load(sessionKey),
        cleared: async (sessionKey) => (await records()).clear(sessionKey),
      },
    }),
  );
  if (!vscode.workspace.isTrusted) {
    panel.disableInput('Nothing runs until this workspace is trusted.');
    store.add(vscode.workspace.onDidGrantWorkspaceTrust(() => panel.disableInput(undefined)));
  }
  return panel;
}
