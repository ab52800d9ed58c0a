import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock';
import { silentLog } from '../../src/base/log';
import { Hosts } from '../../src/editor/reload/hosts';
import { until } from '../support/until';
import { expectGone } from './support/processes';
import { standIn } from './support/standIn';

test('a kernel host that a person stops is listed until it is gone, and no longer', async () => {
  const first = await standIn({ graceMs: 60_000, codes: ['print(0, flush=True)'] });
  vi.stubEnv('XDG_RUNTIME_DIR', first.runtimeDir);
  onTestFinished(() => void vi.unstubAllEnvs());
  const hosts = new Hosts({
    workspace: 'test',
    log: silentLog,
    clock: systemClock,
    ownPid: () => undefined,
  });
  onTestFinished(() => hosts.dispose());
  process.kill(first.pid, 'SIGKILL');
  const isOrphan = async (): Promise<boolean> => (await hosts.look()).some((each) => each.isOrphan);
  expect(await until(isOrphan, 5_000, 10)).toBe(true);

  const isEmpty = new Promise<void>((resolve) => {
    const listening = hosts.onDidChange(() => {
      if (hosts.others.length > 0) return;
      listening.dispose();
      resolve();
    });
  });
  await hosts.dismiss(first.hostPid);
  await isEmpty;
  await expectGone([first.hostPid, ...first.family], 1_000);
});
