import { randomUUID } from 'node:crypto';
import type * as vscode from 'vscode';
import type { HoldfastApi } from './api';
import { DisposableStore } from './base/disposable';
import { lazy } from './base/lazy';
import { registerAgent } from './editor/agent';
import { provideApi } from './editor/api';
import { leave } from './editor/leave';
import { workspaceIdentity } from './editor/reload/window';
import { ownerInWords } from './editor/sessions/owners';
import { createActions } from './editor/window/actions';
import { offerCommands } from './editor/window/commands';
import { createEssentials } from './editor/window/essentials';
import { offerHosts } from './editor/window/hosts';
import { createKernels } from './editor/window/kernels';
import { createPanel } from './editor/window/panel';
import { keptTranscripts } from './editor/window/records';
import { createRunning, type Running } from './editor/window/running';
import { showSessions } from './editor/window/views';

// The editor calls `deactivate` with nothing in hand.
let leaveWindow: (() => Promise<void>) | undefined;

/**
 * Builds the parts and wires them. What runs code (the pool, the kernel host's client, the search for an interpreter) is
 * loaded at the first run, so that a window that only opens a Python file pays for none of it.
 */
export function activate(context: vscode.ExtensionContext): HoldfastApi {
  const { subscriptions, extension, extensionUri, workspaceState } = context;
  const { globalStorageUri, storageUri: storage = globalStorageUri } = context;
  const { version } = extension.packageJSON as { version: string };
  const store = new DisposableStore();
  subscriptions.push(store);

  // Each area says in its options what it takes of these.
  const hostPid = (): number | undefined => kernelHost.made?.hostPid;
  const essentials = createEssentials({ store, version, hostPid });
  const { log, ownerId, onFailure, model, book, chatNames, nameOf } = essentials;
  const workspace = workspaceIdentity(randomUUID);

  const transcripts = keptTranscripts({
    ...essentials,
    ...{ globalStorageUri, workspaceState, workspace },
  });
  const { leftOut, records } = transcripts;

  // The pool is made of what the window before has left, whose runs go on in `running`, which runs all in the pool.
  const heirs = (): Pick<Running, 'runs' | 'background'> => running;
  const kernels = createKernels({
    ...essentials,
    ...transcripts,
    ...{ store, extensionUri, workspaceState, workspace, heirs },
  });
  const { python, kernelHost, hosts, pool } = kernels;
  const onBegin = lazy(() => void panel.show().catch(onFailure));
  const running = createRunning({
    ...essentials,
    ...transcripts,
    ...kernels,
    ...{ store, storage, onBegin },
  });
  const { admission, chats, door, runs, background } = running;

  // What a person sees and does.
  const actions = createActions({ ...essentials, store, pool, runs, background });
  const panel = createPanel({
    ...essentials,
    ...actions,
    ...{ store, extensionUri, runs, background, records },
  });
  showSessions({ ...essentials, store, runs, background, chats, leftOut });
  offerCommands({
    ...essentials,
    ...actions,
    ...{ store, python, pool, admission, runs, background, panel, leftOut, records },
    ...{ onBegin, extensionUri, storage },
  });

  // What models and other extensions do.
  store.add(
    registerAgent({
      ...essentials,
      ...{ runs, chats, names: chatNames, storage: context },
      ownerName: (owner) => ownerInWords({ id: owner, kind: 'explicit' }, ownerId, nameOf),
    }),
  );
  const { api } = store.add(
    provideApi({
      ...{ admission, runs, model, door, book, log, background },
      pool: () => pool.get(),
      resolve: (place) => python.resolve(place),
    }),
  );
  offerHosts({ ...essentials, store, hosts, pool });

  leaveWindow = () =>
    leave({
      handOn() {
        // What has ended before.
        door.flush();
        transcripts.leave();
        background.leave();
        door.flush();
      },
      flushRecords: () => transcripts.flush(),
      leaveHost: async () => kernelHost.made?.leave(),
      log,
    });
  return api;
}

/** Stops no kernel: a reload and a close look alike here. The kernel host knows what to do about a window that leaves. */
export async function deactivate(): Promise<void> {
  await leaveWindow?.();
}
