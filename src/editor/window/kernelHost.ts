import * as vscode from 'vscode';
import type { DisposableStore } from '../../base/disposable';
import { createKernelHosting, type KernelHosting } from '../../hosting';
import type { Essentials } from './essentials';

/** The window's own kernel host, which follows the settings. Its process starts with its first kernel. */
export async function createKernelHost(
  options: Pick<Essentials, 'log' | 'configuration'> & {
    readonly store: DisposableStore;
    readonly extensionUri: vscode.Uri;
    /** Names what this window shows. */
    readonly workspace: string;
  },
): Promise<KernelHosting> {
  const { store, extensionUri, workspace, log } = options;
  const settings = await options.configuration();
  const path = (name: string): string => vscode.Uri.joinPath(extensionUri, name).fsPath;
  const graceMs = (): number => settings.get('gracePeriodSeconds') * 1_000;
  const host = createKernelHosting({
    hostScript: path('dist/kernelHost.js'),
    runnersDir: path('media/runners'),
    workspace,
    graceMs: graceMs(),
    log,
  });
  host.setLimits(settings.forKernels());
  store.add(
    settings.onDidChange(() => {
      host.setGrace(graceMs());
      host.setLimits(settings.forKernels());
    }),
  );
  return host;
}
