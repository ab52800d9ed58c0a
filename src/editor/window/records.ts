import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { lazy } from '../../base/lazy';
import type { Records } from '../records';
import { LeftOut } from '../records/leftOut';
import type { RecordedRun } from '../records/shown';
import type { Essentials } from './essentials';

/** The kept transcripts of this window's workspace. */
export interface KeptTranscripts {
  /** Sessions that a person has left out. */
  readonly leftOut: LeftOut;
  /** Loads what reads and writes them, at the first call. */
  records(): Promise<Records>;
  /** Keeps a run. A failure is told. */
  record(run: RecordedRun): void;
  /** The same for one that shows something else since it was kept. */
  keepAgain(executionId: string): void;
  /** The window is closing: what is cancelled from now on was not ended by anybody. */
  leave(): void;
  /** Resolves when what was recorded is written: at once where nothing was ever used. */
  flush(): Promise<void>;
}

export function keptTranscripts(
  options: Pick<Essentials, 'transcript' | 'clock' | 'log' | 'onFailure' | 'configuration'> &
    Pick<vscode.ExtensionContext, 'globalStorageUri' | 'workspaceState'> & {
      /** Names what this window shows. */
      readonly workspace: string;
    },
): KeptTranscripts {
  const { globalStorageUri, workspace, transcript, clock, log, configuration } = options;
  const leftOut = new LeftOut(options.workspaceState);
  let isUsed = false;
  let isLeaving = false;
  const records = lazy(async (): Promise<Records> => {
    isUsed = true;
    const { createRecords } = await import('../records');
    const settings = await configuration();
    return createRecords({
      storage: globalStorageUri.fsPath,
      workspace: workspace.startsWith('empty:') ? undefined : workspace,
      writer: randomUUID().replaceAll('-', ''),
      transcript,
      leftOut,
      mayKeep: async (folder) => settings.get('transcripts.keep', vscode.Uri.file(folder)),
      clock,
      log,
    });
  });
  const tell = (fact: (all: Records) => void): void =>
    void records().then(fact).catch(options.onFailure);
  return {
    leftOut,
    records,
    record(run) {
      const isLeftBehind = isLeaving && run.cancelled;
      tell((all) => all.record({ ...run, isLeftBehind }));
    },
    keepAgain: (executionId) => tell((all) => all.keepAgain(executionId)),
    leave: () => void (isLeaving = true),
    flush: async () => (isUsed ? (await records()).flush() : undefined),
  };
}
