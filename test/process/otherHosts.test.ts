import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock';
import { silentLog } from '../../src/base/log';
import type { FoundHost } from '../../src/hosting/discover';
import { Hosts } from '../../src/editor/reload/hosts';
import { until } from '../support/until';
import { expectGone } from './support/processes';
import { standIn } from './support/standIn';

test('a kernel host that a person stops is listed until it is gone, and no longer', async () => {
  const first = await standIn({ graceMs: 60_000, codes: ['print(0, flush=True)'] });
  const hosts = hostsOf(first.runtimeDir);
  process.kill(first.pid, 'SIGKILL');
  const isOrphan = async (): Promise<boolean> => (await hosts.look()).some((each) => each.isOrphan);
  expect(await until(isOrphan, 5_000, 10)).toBe(true);

  const isEmpty = listed(hosts, (others) => others.length === 0);
  await hosts.dismiss(first.hostPid);
  await isEmpty;
  await expectGone([first.hostPid, ...first.family], 1_000);
});

test('a kernel host of another window is shown as it is now, until it has left, without a look', async () => {
  const first = await standIn({ graceMs: 60_000, codes: ['print(0, flush=True)'] });
  const hosts = hostsOf(first.runtimeDir);
  await hosts.look();
  expect(hosts.others).toMatchObject([{ pid: first.hostPid, isOrphan: false }]);
  const isOrphan = listed(hosts, ([host]) => host?.isOrphan === true);
  const isEmpty = listed(hosts, (others) => others.length === 0);
  first.leave();
  await isOrphan;
  process.kill(first.hostPid, 'SIGTERM');
  await isEmpty;
});

function hostsOf(runtimeDir: string): Hosts {
  vi.stubEnv('XDG_RUNTIME_DIR', runtimeDir);
  onTestFinished(() => void vi.unstubAllEnvs());
  const hosts = new Hosts({
    workspace: 'test',
    log: silentLog,
    clock: systemClock,
    ownPid: () => undefined,
  });
  onTestFinished(() => hosts.dispose());
  return hosts;
}

/** Resolves at the next change with which the hosts of others are so. */
function listed(hosts: Hosts, are: (others: readonly FoundHost[]) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const listening = hosts.onDidChange(() => {
      if (!are(hosts.others)) return;
      listening.dispose();
      resolve();
    });
  });
}
