import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  createMessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import { silentLog, type Log } from '../../src/base/log';
import { HostConnection, type KernelChannel } from '../../src/hosting/hostConnection';
import { RemoteRun } from '../../src/hosting/remoteRun';
import * as m from '../../src/protocol/messages';

const deaf: KernelChannel = {
  onOutput() {},
  onQuestion() {},
  onQuestionOver() {},
  onStopStep() {},
  onExit() {},
  onClosed() {},
  onSilence() {},
  onHostSilence() {},
};

function errorsTo(heard: string[]): Log {
  return { ...silentLog, error: (message) => heard.push(message) };
}

async function sockets(): Promise<{ socket: Socket; host: Socket }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hf-'));
  const server = createServer().listen(path.join(folder, 's'));
  await once(server, 'listening');
  const socket = connect(server.address() as string);
  const [host] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    for (const each of [socket, host]) each.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { socket, host };
}

async function connected(
  log: Log,
): Promise<{ connection: HostConnection; host: MessageConnection }> {
  const { socket, host: end } = await sockets();
  const host = createMessageConnection(new SocketMessageReader(end), new SocketMessageWriter(end));
  host.listen();
  return { connection: new HostConnection({ pid: 1, socket, folder: '' }, log), host };
}

/** Resolves when the client has taken the batch. */
function taken(host: MessageConnection): Promise<unknown> {
  return new Promise((resolve) => {
    host.onNotification(m.acknowledgeOutput.type.method, resolve);
  });
}

const items = [{ execution: null, output: { type: 'stream', name: 'stdout', text: 'a' } as const }];

test('a listener’s bug is told, costs the kernel no acknowledgement and nobody the connection', async () => {
  const errors: string[] = [];
  const { connection, host } = await connected(errorsTo(errors));
  connection.join('k', {
    ...deaf,
    onOutput() {
      throw new TypeError('a bug');
    },
  });
  const acknowledged = taken(host);
  await host.sendNotification(m.output.type.method, { kernel: 'k', seq: 1, items });
  expect(await acknowledged).toEqual({ kernel: 'k', seq: 1 });
  expect(errors).toEqual(['What takes the kernel host’s news failed.']);
  expect(connection.isOpen).toBe(true);
});

test('what came before the close is heard before it, however much there is', async () => {
  const { socket, host } = await sockets();
  const connection = new HostConnection({ pid: 1, socket, folder: '' }, silentLog);
  const heard: string[] = [];
  const exit = { code: 0, signal: null, stderrTail: '', summary: '' };
  const messages = ['a', 'b', 'c', 'd'].map((kernel) => {
    const onClosed = (why: string): unknown => heard.push(`${kernel} ${why}`);
    connection.join(kernel, { ...deaf, onExit: () => heard.push(kernel), onClosed });
    const { method } = m.exited.type;
    const body = JSON.stringify({ jsonrpc: '2.0', method, params: { kernel, exit } });
    return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  });
  host.end(messages.join(''));
  expect(await connection.whenClosed).toBe('lost');
  expect(heard).toEqual(['a', 'b', 'c', 'd', 'a lost', 'b lost', 'c lost', 'd lost']);
});

test('what does not parse closes the connection', async () => {
  const errors: string[] = [];
  const { connection, host } = await connected(errorsTo(errors));
  await host.sendNotification(m.output.type.method, { kernel: 5 });
  expect(await connection.whenClosed).toBe('lost');
  expect(errors).toEqual(['The kernel host sent what nobody understands.']);
});

test('a socket that has closed before is a connection that is lost', async () => {
  const { socket } = await sockets();
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
  const connection = new HostConnection({ pid: 1, socket, folder: '' }, silentLog);
  expect(await connection.whenClosed).toBe('lost');
  await expect(connection.ask(m.survey, {})).rejects.toMatchObject({ code: 'host_lost' });
});

test('who was to answer a question and fails: end of file for the code, and a word in the log', async () => {
  const errors: string[] = [];
  const answered = new Promise((resolve) => {
    const run = new RemoteRun(
      {
        executionId: 'r',
        onOutput() {},
        signal: new AbortController().signal,
        onInput: () => Promise.reject(new Error('a bug')),
      },
      (id, text) => resolve([id, text]),
      errorsTo(errors),
    );
    run.ask({ id: 7, prompt: '', password: false });
  });
  expect(await answered).toEqual([7, null]);
  expect(errors).toEqual(['Who was to answer a question failed.']);
});
