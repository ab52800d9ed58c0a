import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/base/log';
import { ClientLink } from '../../src/kernelHost/clientLink';
import type { Custody } from '../../src/kernelHost/custody';
import * as m from '../../src/protocol/messages';

test('what a client gave to be kept right before its end is there for the next one', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hf-'));
  const server = createServer().listen(path.join(folder, 's'));
  await once(server, 'listening');
  const client = connect(server.address() as string);
  const [socket] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    for (const each of [socket, client]) each.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const kept = new Map<string, unknown>();
  const known = new Promise<string[]>((resolve) => {
    const link = new ClientLink(socket, () => resolve([...kept.keys()]), silentLog);
    const nothing = (): void => undefined;
    // No message of this test is about a kernel.
    const custody = {} as Custody;
    link.serve({ custody, kept, goodbye: () => false, setGrace: nothing, setLimits: nothing });
  });
  const messages = ['a', 'b', 'c', 'd'].map((key) => {
    const params = { key, value: 1 };
    const body = JSON.stringify({ jsonrpc: '2.0', method: m.keep.type.method, params });
    return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  });
  client.end(messages.join(''));
  expect(await known).toEqual(['a', 'b', 'c', 'd']);
});
