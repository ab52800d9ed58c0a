import type * as vscode from 'vscode';
import type { DisposableStore } from '../../base/disposable';
import { later, lazy, type Later } from '../../base/lazy';
import type { KernelHosting } from '../../hosting';
import type { KernelPool } from '../../pool/types';
import type { BackgroundWork } from '../background/backgroundWork';
import type { Python } from '../python';
import { Hosts } from '../reload/hosts';
import { LiveSessions } from '../reload/liveSessions';
import type { Place, Runs } from '../runs';
import type { SessionTarget } from '../sessions/target';
import type { Essentials } from './essentials';
import type { KeptTranscripts } from './records';

interface KernelsOptions
  extends
    Pick<KeptTranscripts, 'record' | 'keepAgain'>,
    Pick<
      Essentials,
      | 'clock'
      | 'log'
      | 'ownerId'
      | 'diagnostics'
      | 'onFailure'
      | 'model'
      | 'book'
      | 'transcript'
      | 'configuration'
    > {
  readonly store: DisposableStore;
  readonly extensionUri: vscode.Uri;
  readonly workspaceState: vscode.Memento;
  /** Names what this window shows. */
  readonly workspace: string;
  /** Who goes on with the runs of the window before. They run in the pool, and are asked for when it is made. */
  heirs(): { readonly runs: Runs; readonly background: BackgroundWork };
}

/** Where kernels come from. All of it is loaded at its first use. */
export interface Kernels {
  readonly python: LaterPython;
  /** The window's own. */
  readonly kernelHost: Later<KernelHosting>;
  /** Those of other windows, and of windows that are gone. */
  readonly hosts: Hosts;
  /** Goes on where the window before has left. */
  readonly pool: Later<KernelPool>;
}

interface LaterPython {
  get(): Promise<Python>;
  /** As `Python.resolve`. */
  resolve(place: Place): Promise<SessionTarget>;
}

export function createKernels(options: KernelsOptions): Kernels {
  const { store, clock, log, ownerId, workspace, workspaceState } = options;
  const getPython = lazy(async () => (await import('./python')).createWindowPython(options));
  const python: LaterPython = {
    get: getPython,
    resolve: async (place) => (await getPython()).resolve(place),
  };
  const kernelHost = later(async () => (await import('./kernelHost')).createKernelHost(options));
  const hosts = store.add(
    new Hosts({ workspace, log, clock, ownPid: () => kernelHost.made?.hostPid }),
  );
  const liveSessions = new LiveSessions(workspaceState, ownerId, log);
  const earlier = lazy(async () => {
    const { takeUpEarlierWindow } = await import('../reload/earlierWindow');
    const heirs = options.heirs();
    return takeUpEarlierWindow({ ...options, ...heirs, hosts, kernelHost, liveSessions, python });
  });
  const pool = later(async () => {
    const { createPool } = await import('./pool');
    return createPool({ ...options, python, kernelHost, liveSessions, earlier });
  });
  return { python, kernelHost, hosts, pool };
}
