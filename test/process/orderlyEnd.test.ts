import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import { createKernelHosting, type KernelHosting } from '../../src/hosting';
import { KernelHost } from '../../src/kernelHost/host';
import { writeLaunchFile } from '../../src/protocol/hostFile';
import { writeToken } from '../../src/protocol/runtimeFolder';
import { run, runnersDir, startPython, temporaryFolder } from './support/hosting';
import { endAfterTest, expectGone } from './support/processes';
import { busy } from './support/standIn';

/** A hosting whose host is this script, to which `bundle` is the path of the real one. */
async function hostingBy(
  script: (bundle: string) => string,
  runtimeDir = temporaryFolder(),
): Promise<{ hosting: KernelHosting; runtimeDir: string }> {
  const folder = temporaryFolder();
  const hostScript = path.join(folder, 'script.cjs');
  writeFileSync(hostScript, script(JSON.stringify(inject('kernelHostScript'))));
  const hosting = createKernelHosting({
    ...{ hostScript, runnersDir, runtimeDir, graceMs: 0, workspace: 'test', log: silentLog },
  });
  onTestFinished(() => hosting.leave());
  return { hosting, runtimeDir };
}

test('three errors that nobody expected, one after the other: the kernels are killed all the same', async () => {
  const { hosting } = await hostingBy(
    (real) => `process.on('SIGUSR2', () => {
  for (const n of [1, 2, 3]) setImmediate(() => { throw new Error('error ' + n); });
});
require(${real});`,
  );
  const kernel = await startPython(hosting);
  const stubborn = run(kernel, busy);
  await stubborn.saw('\n');
  const children = stubborn.text().trim().split(' ').map(Number);
  const host = hosting.hostPid ?? 0;
  [host, kernel.pid, ...children].forEach(endAfterTest);
  process.kill(host, 'SIGUSR2');
  await expectGone([host, kernel.pid, ...children], 4_000);
  await stubborn.reply;
  // The host itself saw to it, and could say how its kernel ended.
  expect(kernel.exit).toMatchObject({ signal: 'SIGKILL' });
});

test('a folder that cannot be removed keeps no host from its orderly end', async () => {
  const parent = path.join(temporaryFolder(), 'run');
  const folder = path.join(parent, 'holdfast-test');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await writeToken(folder, 'f'.repeat(64));
  await writeLaunchFile(folder, { workspace: 'test', graceMs: 0 });
  const { host } = await KernelHost.start({ folder, runnersDir });
  // A file where a folder was: removing what is in it fails.
  renameSync(parent, `${parent}-away`);
  writeFileSync(parent, '');
  await host.leave();
  await host.whenEnded;
});

test('leaving while a host starts that never gets ready takes a second, not its whole limit', async () => {
  const { hosting, runtimeDir } = await hostingBy(
    () => `require('fs').writeFileSync(process.argv[2] + '/pid', String(process.pid));
setInterval(() => undefined, 1000);`,
  );
  const start = startPython(hosting);
  start.catch(() => undefined);
  const pidFile = (): string => path.join(runtimeDir, readdirSync(runtimeDir)[0] ?? '', 'pid');
  await expect.poll(() => existsSync(pidFile()), { timeout: 5_000 }).toBe(true);
  const before = Date.now();
  await hosting.leave();
  expect(Date.now() - before).toBeLessThan(1_500);
  await expect(start).rejects.toMatchObject({ code: 'host_unavailable' });
  expect(readdirSync(runtimeDir)).toEqual([]);
}, 20_000);

test('the folder of a host that failed is removed when it can write there no more', async () => {
  const { hosting, runtimeDir } = await hostingBy(
    () => `const fs = require('fs');
let n = 0;
process.stdout.write('not what is expected\\n', () => {
  for (;;) {
    fs.mkdirSync(process.argv[2], { recursive: true });
    fs.writeFileSync(process.argv[2] + '/' + ++n, '');
  }
});`,
  );
  await expect(startPython(hosting)).rejects.toMatchObject({ code: 'host_unavailable' });
  expect(readdirSync(runtimeDir)).toEqual([]);
});
