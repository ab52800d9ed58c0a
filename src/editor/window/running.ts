import { randomUUID } from 'node:crypto';
import type * as vscode from 'vscode';
import type { DisposableStore } from '../../base/disposable';
import { createAdmission, type Admission } from '../../runner/admission';
import { admitted } from '../../runner/admitted';
import { ChatOwners } from '../agent/chatOwners';
import { BackgroundWork } from '../background/backgroundWork';
import { Door } from '../door';
import { Runs } from '../runs';
import { assertTrusted } from '../trust';
import type { Essentials } from './essentials';
import type { Kernels } from './kernels';
import type { KeptTranscripts } from './records';

interface RunningOptions
  extends
    Pick<Kernels, 'python' | 'kernelHost' | 'pool'>,
    Pick<KeptTranscripts, 'record' | 'records'>,
    Pick<
      Essentials,
      'clock' | 'log' | 'ownerId' | 'onFailure' | 'model' | 'transcript' | 'configuration'
    > {
  readonly store: DisposableStore;
  /** The extension's folder for this workspace. */
  readonly storage: vscode.Uri;
  /** A person's run was handed to its session. */
  onBegin(): void;
}

/** All ways in which code runs in a window, and who may. */
export interface Running {
  readonly admission: Admission;
  readonly chats: ChatOwners;
  readonly door: Door;
  readonly runs: Runs;
  readonly background: BackgroundWork;
}

export function createRunning(options: RunningOptions): Running {
  const { store, clock, log, ownerId, onFailure, model, transcript, configuration } = options;
  const { python, pool, record, onBegin } = options;
  // What captures nothing is refused by the command, so that the setting is read there alone.
  const admission = createAdmission({ captureEnabled: true, log });
  // A chat lets go through the door, which asks whether the chat streams; an owner's end reaches its background runs.
  const chats: ChatOwners = store.add(
    new ChatOwners({
      ...{ clock, log },
      gracePeriodMs: async () => (await configuration()).get('chat.gracePeriodMinutes') * 60_000,
      holds: (owner) =>
        model.sessions().some(({ owners }) => owners.some(({ id }) => id === owner)),
      close: (owner) => door.close(owner),
      flush: (owner) => door.flush(owner),
    }),
  );
  const door: Door = new Door({
    ...{ record, log },
    execute: admitted(admission, async (code, run) => (await pool.get()).execute(code, run)),
    disposers: [
      async (owner) => pool.made?.disposeOwner(owner),
      (owner) => background.disposeOwner(owner),
    ],
    isStreaming: (owner) => chats.isStreaming(owner),
  });
  const runs = store.add(
    new Runs({
      ...{ ownerId, clock, transcript, door, onFailure, onBegin },
      newId: randomUUID,
      assertAllowed: assertTrusted,
      resolve: (place) => python.resolve(place),
      mode: async () => (await configuration()).get('kernelMode'),
    }),
  );
  const background: BackgroundWork = store.add(
    new BackgroundWork({
      ...{ ownerId, clock, door },
      newId: randomUUID,
      assertAllowed: assertTrusted,
      // Made of what the window before has left, and so after that was taken up.
      ready: () => pool.get(),
      async load(onChange) {
        const { createBackgroundRuns } = await import('./background');
        return createBackgroundRuns({ ...options, admission, door }, onChange);
      },
    }),
  );
  return { admission, chats, door, runs, background };
}
