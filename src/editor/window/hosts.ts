import * as vscode from 'vscode';
import type { DisposableStore } from '../../base/disposable';
import { HoldfastError } from '../../base/errors';
import { HostsTree } from '../reload/hostsTree';
import type { Essentials } from './essentials';
import type { Kernels } from './kernels';

interface HostsOptions
  extends Pick<Essentials, 'clock' | 'onFailure'>, Pick<Kernels, 'hosts' | 'pool'> {
  readonly store: DisposableStore;
}

/** The kernel hosts of other windows, for a person to choose from; the one that can only be meant is taken up unasked. */
export function offerHosts({ store, hosts, pool, clock, onFailure }: HostsOptions): void {
  store.add(new HostsTree(hosts));
  const onHost = (name: string, act: (pid: number) => Promise<void>): void => {
    store.add(
      vscode.commands.registerCommand(name, (row: unknown) =>
        typeof row === 'number' ? act(row).catch(onFailure) : undefined,
      ),
    );
  };
  onHost('holdfast.stopHost', (pid) => hosts.dismiss(pid));
  onHost('holdfast.adoptHost', async (pid) => {
    // A pool takes over what there is only when it is made.
    if (pool.made !== undefined) {
      throw new HoldfastError(
        'bad_input',
        'This window has sessions of its own already. Stop them, reload the window, and adopt the others then.',
      );
    }
    if (hosts.choose(pid)) await pool.get();
    await hosts.look();
  });
  // After the activation, which this must not hold up: a window that was reloaded goes on where it was.
  if (vscode.workspace.isTrusted) {
    const goOn = async (): Promise<void> =>
      void ((await hosts.toTakeUpSoon()) && (await pool.get()));
    store.add(clock.after(0, () => void goOn().catch(onFailure)));
  }
}
