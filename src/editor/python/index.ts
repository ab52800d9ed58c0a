import { promises as fs } from 'node:fs';
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import type { Configuration } from '../configuration';
import type { Place } from '../runs';
import { defaultSessionId, folderName, type SessionBook } from '../sessions/sessionBook';
import type { SessionTarget } from '../sessions/target';
import { Environments } from '../environment/environments';
import { SETTING } from './interpreter';
import { Interpreters } from './interpreters';
import { Preludes } from './preludes';
import type { PreludeReport } from './runPrelude';

export interface Python extends Disposable {
  readonly interpreters: Interpreters;
  readonly preludes: Preludes;
  readonly environments: Environments;
  /** The session that a place's code runs in. Rejects with `interpreter_not_found`. */
  resolve(place: Place): Promise<SessionTarget>;
}

export function createPython(parts: {
  configuration: Configuration;
  book: SessionBook;
  /** Where a session's prelude is reported. */
  reportTo(sessionKey: string): PreludeReport;
  log: Log;
}): Python {
  const { configuration, book, log } = parts;
  const store = new DisposableStore();
  const interpreters = new Interpreters(configuration, log);
  store.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(SETTING)) book.forgetResolved();
    }),
  );
  let follows = false;
  const followChoice = async (): Promise<void> => {
    if (follows) return;
    follows = true;
    const following = await interpreters.onDidChangeChoice(() => book.forgetResolved());
    if (following) store.add(following);
  };
  return {
    interpreters,
    preludes: new Preludes(configuration, parts.reportTo),
    environments: new Environments(
      configuration,
      (sessionKey, sentence) => parts.reportTo(sessionKey).note(sentence),
      log,
    ),
    async resolve(place) {
      const chosen = book.chosen(place.document, place.folder);
      if (chosen) return chosen;
      const { path, chosen: byPerson } = await interpreters.find(place.folder);
      const target: SessionTarget = {
        language: 'python',
        sessionId: defaultSessionId('python'),
        cwd: await fs.realpath(place.folder),
        interpreter: byPerson ? path : undefined,
        label: folderName(place.folder),
      };
      book.resolved(place.folder, target);
      void followChoice().catch((error: unknown) =>
        log.warn(`Changes of the interpreter are not followed: ${String(error)}`),
      );
      return target;
    },
    dispose: () => store.dispose(),
  };
}
