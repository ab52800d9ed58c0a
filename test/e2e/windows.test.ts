import { expect, test } from 'vitest';
import { openDescriptors, residentMebibytes } from '../process/support/processes';
import { until } from '../support/until';
import { openWindow, type TemporaryWorkspace, type WorkbenchServer } from '../support/workbench';
import { workbenchForTests } from '../support/workbench/forTests';

// Windows that are opened, used and closed, one after the other in one server: what they leave behind.

const isSoak = process.env['HOLDFAST_SOAK'] !== undefined;
const windows = isSoak ? 30 : 10;
const GRACE_SECONDS = 1;

let workspace: TemporaryWorkspace;
let server: WorkbenchServer;

workbenchForTests(async (workbench) => {
  workspace = workbench.folder({
    'first.py':
      'import subprocess\nchild = subprocess.Popen(["sleep", "600"], start_new_session=True)\n40 + 2\n',
  });
  server = await workbench.startServer({
    // What earlier windows showed would stand in the panel of the next.
    settings: {
      'holdfast.gracePeriodSeconds': GRACE_SECONDS,
      'holdfast.transcripts.keep': false,
    },
    // The server forgets a window that is gone at once, and its extension host with it.
    args: ['--reconnection-grace-time=1'],
  });
});

const ours = (): string[] =>
  server
    .processes()
    .map(({ command }) => command)
    .filter((command) => /kernelHost|runner\.py|sleep 600/.test(command));

/** Opens a window, runs something that leaves a child, looks at the extension host and the kernel host, and closes. */
async function useWindow(): Promise<{
  host: number;
  kernelHost: number;
  kernelHostMebibytes: number;
}> {
  const window = await openWindow(server, workspace.folder);
  await window.openFile('first.py');
  await window.runCommand('Holdfast: Run File');
  await window.panel().getByText('42', { exact: true }).waitFor();
  expect(ours()).toHaveLength(3);
  const kernelHost = server.processes().find(({ command }) => command.includes('kernelHost'));
  const figures = {
    host: openDescriptors(window.extensionHostPid()),
    kernelHost: openDescriptors(kernelHost?.pid ?? 0),
    kernelHostMebibytes: residentMebibytes(kernelHost?.pid ?? 0).now,
  };
  const { gone } = window.host();
  await window.close();
  await gone;
  expect(await until(() => ours().length === 0, (GRACE_SECONDS + 5) * 1_000)).toBe(true);
  return figures;
}

test.skipIf(process.platform !== 'linux')(
  `open and close ${windows} windows: processes, descriptors, listeners and memory are as flat as before`,
  { timeout: windows * 60_000 },
  async () => {
    // The first ones fill the server's caches.
    await useWindow();
    const first = await useWindow();
    await until(() => server.processes().length === 0, 10_000);
    const before = {
      processes: server.processes().length,
      descriptors: openDescriptors(server.pid),
      mebibytes: residentMebibytes(server.pid).now,
    };
    let last = first;
    for (let opened = 2; opened < windows; opened += 1) last = await useWindow();

    expect(last.host).toBeLessThanOrEqual(first.host + 3);
    expect(last.kernelHost).toBeLessThanOrEqual(first.kernelHost + 1);
    expect(last.kernelHostMebibytes).toBeLessThan(first.kernelHostMebibytes + 15);
    const isFlat = (): boolean => server.processes().length <= before.processes;
    expect(await until(isFlat, 10_000), JSON.stringify(server.processes())).toBe(true);
    // The sockets of the last window close after its processes have gone.
    const descriptors = (): number => openDescriptors(server.pid);
    await until(() => descriptors() <= before.descriptors + 3, 10_000);
    expect(descriptors()).toBeLessThanOrEqual(before.descriptors + 3);
    expect(residentMebibytes(server.pid).now).toBeLessThan(before.mebibytes + 100);
  },
);
