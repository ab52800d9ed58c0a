import { expect, inject, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import {
  createKernelHosting,
  discoverHosts,
  hostToTakeUp,
  type FoundHost,
} from '../../src/hosting';
import { takeInventory } from '../../src/hosting/inventory';
import { sessionEnvironment } from '../../src/kernel/environment';
import { until } from '../support/until';
import {
  hostingForTest,
  run,
  runnersDir,
  startPython,
  temporaryFolder,
  type FullKernel,
} from './support/hosting';

const planted = {
  PLANTED_API_KEY: 'k',
  PYTHONSTARTUP: '/nowhere.py',
  PLANTED_PLAIN: 'p',
  VSCODE_PLANTED: 'v',
  ELECTRON_RUN_AS_NODE: '1',
  NODE_OPTIONS: '--no-warnings',
};

const look = `
import os, subprocess, sys
show = lambda env: ",".join(sorted(n for n in env if "PLANTED" in n or n in ("PYTHONSTARTUP", "ELECTRON_RUN_AS_NODE", "NODE_OPTIONS", "PATH", "GIVEN")))
print(show(os.environ))
print(show(dict(l.split("=", 1) for l in subprocess.check_output(["env"], text=True).splitlines() if "=" in l)))
`;

function environmentFor(isForPerson: boolean) {
  return sessionEnvironment({
    window: { ...process.env, ...planted },
    file: { FROM_FILE_TOKEN: 't' },
    setting: { GIVEN: 'g' },
    allowedToAgents: [],
    isForPerson,
    isWindows: process.platform === 'win32',
    fit: (env) => env as Record<string, string>,
  });
}

async function namesIn(kernel: FullKernel): Promise<string[]> {
  const looked = run(kernel, look);
  await looked.reply;
  const [own, ofChild] = looked.text().trim().split('\n');
  expect(ofChild).toBe(own);
  return own?.split(',') ?? [];
}

test("a person's kernel has the window's environment, but for what steers the editor", async () => {
  const { hosting } = hostingForTest();
  const { env } = environmentFor(true);
  const kernel = await startPython(hosting, { env });
  const names = ['GIVEN', 'PATH', 'PLANTED_API_KEY', 'PLANTED_PLAIN', 'PYTHONSTARTUP'];
  expect(await namesIn(kernel)).toEqual(names);
  expect(kernel.withheldEnvironment).toBeUndefined();
});

test("an agents' kernel has what is allowed and what the user gave, and says what it lacks, also to the next window", async () => {
  const runtimeDir = temporaryFolder();
  const hostScript = inject('kernelHostScript');
  const window = (graceMs: number) => {
    const hosting = createKernelHosting({
      ...{ hostScript, runnersDir, runtimeDir, workspace: 'test', graceMs, log: silentLog },
    });
    onTestFinished(() => hosting.leave());
    return hosting;
  };
  const { env, withheld } = environmentFor(false);
  const first = window(10_000);
  const place = { id: 'session-1', incarnation: 1 };
  const { signal } = new AbortController();
  const started = await first.startKernel({
    ...{ language: 'python', interpreter: 'python3', cwd: runtimeDir, sessionId: 'python:test' },
    ...{ env, withheld: withheld!, place, signal },
  });
  expect(await namesIn(started as FullKernel)).toEqual(['GIVEN', 'PATH']);
  expect(started.withheldEnvironment?.sensitive).toEqual(
    expect.arrayContaining(['FROM_FILE_TOKEN', 'PLANTED_API_KEY', 'PYTHONSTARTUP']),
  );
  expect(started.withheldEnvironment?.unlisted).toContain('PLANTED_PLAIN');
  await first.leave();

  // The host writes down that its client is gone a moment after that.
  let found: FoundHost | undefined;
  const look = async (): Promise<boolean> => {
    found = hostToTakeUp(await discoverHosts({ workspace: 'test', runtimeDir, log: silentLog }));
    return found !== undefined;
  };
  expect(await until(look, 5_000, 10)).toBe(true);
  const second = window(0);
  const adoption = await second.adopt(found!);
  const again = await adoption.reattach(place, signal);
  expect(again?.withheldEnvironment).toEqual(started.withheldEnvironment);
});

test("a kernel's own stderr is there while it lives and after its death, its end alone where it is long", async () => {
  const { hosting, runtimeDir } = hostingForTest();
  const kernel = await startPython(hosting);
  await run(
    kernel,
    'import os, sys\nos.write(2, b"from the process\\n")\nprint("from code", file=sys.stderr)',
  ).reply;
  await until(async () => (await kernel.stderr()) !== '', 5_000, 10);
  expect(await kernel.stderr()).toBe('from the process\n');

  const inventory = await takeInventory(runtimeDir);
  expect(inventory.find(({ pid }) => pid === hosting.hostPid)).toMatchObject({
    life: 'living',
    announced: { kernels: 1, client: { state: 'attached' } },
    entries: [{ pid: kernel.pid, state: 'alive' }],
  });

  await run(kernel, 'for i in range(9_000): os.write(2, b"%05d\\n" % i)\nos._exit(3)').reply;
  await until(() => !kernel.isAlive(), 5_000, 10);
  const text = await kernel.stderr();
  expect(text).toHaveLength(32_768);
  expect(text.endsWith('08998\n08999\n')).toBe(true);
  expect(kernel.exit?.stderrTail.length).toBeLessThanOrEqual(2_000);
});
