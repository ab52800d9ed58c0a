import * as vscode from 'vscode';
import type { DisposableStore } from '../../base/disposable';
import type { Admission } from '../../runner/admission';
import type { BackgroundWork } from '../background/backgroundWork';
import { registerCellLens } from '../background/cellLens';
import { registerBackgroundCommands } from '../background/commands';
import { registerCaptures } from '../capture';
import { registerCommands } from '../commands';
import { StderrDocuments } from '../diagnostics/stderrDocuments';
import type { Panel } from '../panel/panelView';
import { prompts } from '../prompts';
import { registerRecordCommands } from '../records/commands';
import { RecordActions } from '../records/recordActions';
import type { Runs } from '../runs';
import type { Actions } from './actions';
import type { Essentials } from './essentials';
import type { Kernels } from './kernels';
import type { KeptTranscripts } from './records';

interface CommandsOptions
  extends
    Actions,
    Pick<KeptTranscripts, 'leftOut' | 'records'>,
    Pick<Kernels, 'python' | 'pool'>,
    Pick<
      Essentials,
      | 'log'
      | 'showLog'
      | 'ownerId'
      | 'diagnostics'
      | 'onFailure'
      | 'model'
      | 'book'
      | 'transcript'
      | 'configuration'
    > {
  readonly store: DisposableStore;
  readonly admission: Admission;
  readonly runs: Runs;
  readonly background: BackgroundWork;
  readonly panel: Panel;
  /** A person's run begins. */
  onBegin(): void;
  readonly extensionUri: vscode.Uri;
  /** The extension's folder for this workspace. */
  readonly storage: vscode.Uri;
}

/** All commands but those on kernel hosts: on sessions, kept transcripts, background runs and captures. */
export function offerCommands(options: CommandsOptions): void {
  const { store, log, ownerId, diagnostics, onFailure, model, book, configuration } = options;
  const { python, pool, admission, runs, panel, leftOut, storage, onBegin } = options;
  const { actions, backgroundActions, fullPool } = options;
  const resolve: Kernels['python']['resolve'] = (place) => python.resolve(place);
  const stderrs = store.add(new StderrDocuments());
  store.add(
    registerCommands({
      ...{ ownerId, runs, model, book, actions, fullPool, panel, onFailure, resolve },
      pool: () => pool.get(),
      interpreters: async () => (await python.get()).interpreters,
      showLog: options.showLog,
      async showStderr(session) {
        const text = await (await pool.get()).stderr(session.id);
        await stderrs.show(session, book.labelOf(session), text);
      },
      copyDiagnostics: () => diagnostics.copy(options.background.look()),
    }),
  );
  const { transcript, records } = options;
  const recordActions = new RecordActions({ transcript, leftOut, prompts, records });
  store.add(registerRecordCommands({ actions: recordActions, leftOut, model, book, onFailure }));
  store.add(
    registerBackgroundCommands({
      ...{ work: options.background, actions: backgroundActions, panel },
      ...{ onFailure, onBegin, resolve },
    }),
  );
  store.add(registerCellLens(async () => (await configuration()).get('background.codeLens')));
  store.add(
    registerCaptures({
      ...{ admission, runs, model, transcript, storage, log, configuration, onFailure },
      script: vscode.Uri.joinPath(options.extensionUri, 'dist/captureWorker.js').fsPath,
    }),
  );
}
