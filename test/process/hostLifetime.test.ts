import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, onTestFinished, test } from 'vitest';
import { greetHost } from '../../src/protocol/handshake';
import { PROTOCOL_VERSION } from '../../src/protocol/messages';
import { until } from '../support/until';
import { hostingForTest, run, runnersDir, startPython, temporaryFolder } from './support/hosting';
import { alive, endAfterTest, expectGone } from './support/processes';
import { busy, standIn } from './support/standIn';

test('the extension host is SIGKILLed: kernel host, kernels, their children and the folder are gone (vscode-jupyter 5225, 11177; enterprise_gateway 672)', async () => {
  const { pid, hostPid, runtimeDir, family } = await standIn();
  process.kill(pid, 'SIGKILL');
  await expectGone([hostPid, ...family], 5_000);
  expect(readdirSync(runtimeDir)).toEqual([]);
});

test('the extension host says goodbye: the same', async () => {
  const { pid, hostPid, runtimeDir, family, leave } = await standIn();
  leave();
  await expectGone([pid, hostPid, ...family], 5_000);
  expect(readdirSync(runtimeDir)).toEqual([]);
});

test('the kernel host gets SIGTERM: the same, though its client stays', async () => {
  const { hostPid, runtimeDir, family } = await standIn();
  process.kill(hostPid, 'SIGTERM');
  await expectGone([hostPid, ...family], 5_000);
  expect(await until(() => readdirSync(runtimeDir).length === 0, 1_000)).toBe(true);
});

test('extension host and kernel host are SIGKILLed: the runners end themselves and their group', async () => {
  const { pid, hostPid, family } = await standIn();
  process.kill(pid, 'SIGSTOP'); // So that it cannot come to the kernels’ end.
  process.kill(hostPid, 'SIGKILL');
  process.kill(pid, 'SIGKILL');
  const [idle = 0, stubborn = 0, idleChild = 0, , stubbornChild = 0] = family;
  await expectGone([idle, idleChild, stubborn, stubbornChild], 5_000);
});

test('the kernel host is SIGKILLed: its kernels report it, are ended at once, and the next start has a new host', async () => {
  const { hosting, runtimeDir } = hostingForTest();
  const kernels = await Promise.all([startPython(hosting), startPython(hosting)]);
  const runs = kernels.map((kernel) => run(kernel, busy));
  await Promise.all(runs.map((each) => each.saw('\n')));
  const children = runs.flatMap((each) => each.text().trim().split(' ').map(Number));
  children.forEach(endAfterTest);
  const first = hosting.hostPid ?? 0;

  process.kill(first, 'SIGKILL');
  const replies = await Promise.all(runs.map(({ reply }) => reply));

  expect(replies).toMatchObject([{ cancelled: true }, { cancelled: true }]);
  for (const kernel of kernels) {
    expect(kernel.isAlive()).toBe(false);
    expect(kernel.exit?.summary).toMatch(/the kernel host died/);
    expect(await kernel.shutdown({ timeoutMs: 2_000 })).toEqual({ confirmed: true });
    expect(alive(kernel.pid)).toBe(false);
  }
  // Those with a session of their own too, and not only at the next start.
  await expectGone(children, 2_000);
  const next = await startPython(hosting);
  expect(await run(next, '1').reply).toMatchObject({ status: 'ok' });
  expect(hosting.hostPid).not.toBe(first);
  expect(readdirSync(runtimeDir)).toHaveLength(1);
});

test('the kernel host does not answer: a kill is done from here, with evidence', async () => {
  const { hosting } = hostingForTest();
  const kernel = await startPython(hosting);
  const host = hosting.hostPid ?? 0;
  endAfterTest(host);
  process.kill(host, 'SIGSTOP');
  onTestFinished(() => void process.kill(host, 'SIGCONT'));
  const limited = await kernel.shutdown({ timeoutMs: 300 });
  expect(limited).toMatchObject({
    confirmed: false,
    reason: expect.stringMatching(/not answer/) as string,
  });
  expect(await kernel.kill()).toEqual({ confirmed: true });
  expect(kernel.exit?.summary).toMatch(/the kernel host did not answer/);
});

/** A kernel host without a client. */
async function bareHost(): Promise<{
  pid: number;
  folder: string;
  address: string;
  token: string;
}> {
  const parent = temporaryFolder();
  const folder = path.join(parent, 'private');
  mkdirSync(folder, { mode: 0o700 });
  const token = randomBytes(32).toString('hex');
  writeFileSync(path.join(folder, 'token'), token, { mode: 0o600 });
  writeFileSync(path.join(folder, 'launch.json'), '{"workspace":"test","graceMs":0}');
  const child = spawn(process.execPath, [inject('kernelHostScript'), folder, runnersDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = child.pid ?? 0;
  endAfterTest(pid);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { pid, folder, token, address: (JSON.parse(line) as { address: string }).address };
}

async function knock(address: string): Promise<Socket> {
  const socket = connect(address);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const limit = (): AbortSignal => AbortSignal.timeout(5_000);

test('a wrong token is refused, and so is a second client, while the first stays', async () => {
  const { pid, address, token } = await bareHost();
  const wrong = greetHost(await knock(address), 'f'.repeat(64), limit());
  await expect(wrong).rejects.toMatchObject({ code: 'protocol' });
  const client = await knock(address);
  await greetHost(client, token, limit());
  const second = greetHost(await knock(address), token, limit());
  await expect(second).rejects.toThrow(/another window/);
  expect(client.destroyed).toBe(false);
  client.destroy();
  await expectGone([pid], 2_000);
});

test('a client that cannot prove itself hears nothing but a nonce and a proof', async () => {
  const { address } = await bareHost();
  const socket = await knock(address);
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  const hello = JSON.stringify({ version: PROTOCOL_VERSION, nonce: '0'.repeat(64) });
  socket.write(`${hello}\n{"proof":"${'0'.repeat(64)}"}\n`);
  await once(socket, 'close');
  const [challenge = '', refusal] = heard.trim().split('\n');
  expect(Object.keys(JSON.parse(challenge) as object)).toEqual(['version', 'nonce', 'proof']);
  expect(refusal).toBe('{"refused":"token"}');
});

test('nobody connects within 10 s: the host leaves, and removes its folder', async () => {
  const { pid, folder } = await bareHost();
  await expectGone([pid], 12_000);
  expect(readdirSync(path.dirname(folder))).toEqual([]);
});

test('folder, socket and token are closed to others, and the token is not in arguments or environment', async () => {
  const { hosting, runtimeDir } = hostingForTest();
  await startPython(hosting);
  const [name = ''] = readdirSync(runtimeDir);
  const folder = path.join(runtimeDir, name);
  const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);
  expect(mode(folder)).toBe('700');
  expect(mode(path.join(folder, 'token'))).toBe('600');
  const token = readFileSync(path.join(folder, 'token'), 'utf8');
  for (const file of ['cmdline', 'environ']) {
    expect(readFileSync(`/proc/${hosting.hostPid}/${file}`, 'utf8')).not.toContain(token);
  }
});

test('a folder that others can enter is refused', async () => {
  const parent = temporaryFolder();
  const folder = path.join(parent, 'open');
  mkdirSync(folder, { mode: 0o755 });
  const child = spawn(process.execPath, [inject('kernelHostScript'), folder, runnersDir], {
    stdio: 'pipe',
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(1);
  expect(said).toMatch(/not safe for a socket: others can enter it/);
});

test('a kernel host that cannot start says why, and leaves no folder', async () => {
  const runtimeDir = temporaryFolder();
  const { createKernelHosting } = await import('../../src/hosting');
  const { silentLog } = await import('../../src/base/log');
  const hostScript = path.join(runtimeDir, 'missing.js');
  const hosting = createKernelHosting({
    hostScript,
    runnersDir,
    runtimeDir,
    workspace: 'test',
    graceMs: 0,
    log: silentLog,
  });
  await expect(startPython(hosting)).rejects.toMatchObject({
    code: 'host_unavailable',
    message: expect.stringMatching(/missing\.js/) as string,
  });
  expect(readdirSync(runtimeDir)).toEqual([]);
  await hosting.leave();
});
