import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { HoldfastError } from '../../src/base/errors';
import { fromResponseError, toResponseError } from '../../src/protocol/failure';
import { freshToken, greetClient, greetHost, type Refusal } from '../../src/protocol/handshake';
import { execute, output, PROTOCOL_VERSION } from '../../src/protocol/messages';
import { parse } from '../../src/protocol/parse';
import { parseReadyLine } from '../../src/protocol/readyLine';
import { checkRuntimeFolder, makeRuntimeFolder } from '../../src/protocol/runtimeFolder';

function folder(): string {
  const made = mkdtempSync(path.join(os.tmpdir(), 'hf-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function pair(): Promise<{ host: Socket; client: Socket }> {
  const server = createServer();
  server.listen(path.join(folder(), 's'));
  await once(server, 'listening');
  const client = connect(server.address() as string);
  const [host] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    host.destroy();
    client.destroy();
    server.close();
  });
  return { host, client };
}

const limit = (): AbortSignal => AbortSignal.timeout(2_000);
const admit = (): undefined => undefined;

describe('greeting', () => {
  test('both know the token: in, and not a byte of what follows is lost', async () => {
    const { host, client } = await pair();
    const token = freshToken();
    const greeted = greetClient(host, token, limit(), admit);
    await greetHost(client, token, limit());
    client.write('first message');
    expect(await greeted).toBeUndefined();
    const [chunk] = (await once(host, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('first message');
  });

  test('a host that does not know the token is found out by the client', async () => {
    const { host, client } = await pair();
    const greeted = greetClient(host, freshToken(), limit(), admit).catch(
      (error: unknown) => error,
    );
    await expect(greetHost(client, freshToken(), limit())).rejects.toThrow(/is not the host/);
    client.destroy();
    expect(await greeted).toBeInstanceOf(HoldfastError);
  });

  test('a proof sent back to who made it proves nothing', async () => {
    const { host, client } = await pair();
    const greeted = greetClient(host, freshToken(), limit(), admit);
    client.write(`${JSON.stringify({ version: PROTOCOL_VERSION, nonce: '0'.repeat(64) })}\n`);
    const [chunk] = (await once(client, 'data')) as [Buffer];
    const { proof } = JSON.parse(chunk.toString()) as { proof: string };
    client.write(`${JSON.stringify({ proof })}\n`);
    expect(await greeted).toBe('token');
  });

  test('another version and a taken place are refused with the reason', async () => {
    const { host, client } = await pair();
    client.write(`${JSON.stringify({ version: 99, nonce: '0'.repeat(64) })}\n`);
    expect(await greetClient(host, freshToken(), limit(), admit)).toBe('version');
    const other = await pair();
    const token = freshToken();
    const busy = greetClient(other.host, token, limit(), (): Refusal => 'busy');
    await expect(greetHost(other.client, token, limit())).rejects.toThrow(/another window/);
    expect(await busy).toBe('busy');
  });

  test('silence and too long a line end it', async () => {
    const { host } = await pair();
    const silent = greetClient(host, freshToken(), AbortSignal.timeout(50), admit);
    await expect(silent).rejects.toThrow(/in time/);
    const other = await pair();
    const long = greetClient(other.host, freshToken(), limit(), admit);
    other.client.write('x'.repeat(10_000));
    await expect(long).rejects.toThrow(/too long/);
  });
});

describe('the private folder', () => {
  test('is closed to others, in the folder that was asked for', async () => {
    const base = folder();
    const made = await makeRuntimeFolder(base);
    expect(path.dirname(made)).toBe(base);
    expect(statSync(made).mode & 0o777).toBe(0o700);
    await checkRuntimeFolder(made);
  });

  test('too long a path for a socket: the next place is taken; none left: said so', async () => {
    const long = path.join(folder(), 'x'.repeat(100));
    mkdirSync(long);
    vi.stubEnv('XDG_RUNTIME_DIR', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const made = await makeRuntimeFolder(long);
    onTestFinished(() => rmSync(made, { recursive: true }));
    expect(path.dirname(made)).toBe(os.tmpdir());
    vi.stubEnv('TMPDIR', long);
    await expect(makeRuntimeFolder(long)).rejects.toMatchObject({
      code: 'host_unavailable',
      message: expect.stringMatching(/too long for a socket \(103 bytes/) as string,
    });
  });

  test('open to others, or a link: refused', async () => {
    const base = folder();
    chmodSync(base, 0o750);
    await expect(checkRuntimeFolder(base)).rejects.toThrow(/others can enter/);
    const link = path.join(folder(), 'link');
    symlinkSync(base, link);
    await expect(checkRuntimeFolder(link)).rejects.toThrow(/not a folder/);
  });
});

describe('messages', () => {
  test('what does not fit is refused, with its place named', () => {
    const bad = { kernel: 'k', execution: 'e', code: 1, stdin: true };
    expect(() => parse(execute.params, bad, 'kernel/execute')).toThrow(
      /Not a valid kernel\/execute \(at code\)/,
    );
    const item = { execution: null, output: { type: 'stream', name: 'stdin', text: '' } };
    expect(() => parse(output.params, { kernel: 'k', seq: 1, items: [item] }, 'output')).toThrow(
      /items\.0\.output\.name/,
    );
    expect(() => parseReadyLine('hello')).toThrow(/something else than ready/);
  });

  test('a failure keeps its code, its text and its system code over the way', () => {
    const cause = Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' });
    const sent = new HoldfastError('start_failed', 'No more processes.', { cause });
    expect(fromResponseError(toResponseError(sent))).toMatchObject({
      code: 'start_failed',
      message: 'No more processes.',
      cause: { code: 'EMFILE' },
    });
    expect(fromResponseError(new Error('write EPIPE'))).toMatchObject({ code: 'host_lost' });
  });
});
