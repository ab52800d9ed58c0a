import { once } from 'node:events';
import net from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { SocketMessageReader, type Message } from 'vscode-jsonrpc/node';
import { WholeMessageWriter } from '../../src/protocol/wholeMessages';

async function pair(): Promise<{ writer: WholeMessageWriter; chunks: string[]; read: Message[] }> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  const [other] = (await once(server, 'connection')) as [net.Socket];
  onTestFinished(() => {
    socket.destroy();
    other.destroy();
    server.close();
  });
  const chunks: string[] = [];
  const read: Message[] = [];
  other.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  new SocketMessageReader(other).listen((message) => read.push(message));
  return { writer: new WholeMessageWriter(socket), chunks, read };
}

const message = (method: string): Message & { method: string } => ({ jsonrpc: '2.0', method });

it('messages of one turn arrive in their order and in one piece', async () => {
  const { writer, chunks, read } = await pair();
  const names = ['one', 'zwei – 2', '\ud800'];
  await Promise.all(names.map((name) => writer.write(message(name))));
  await expect.poll(() => read).toEqual(names.map(message));
  expect(chunks).toHaveLength(1);
});

it('a message that cannot be written is told to whoever sends it, and the next one arrives', async () => {
  const { writer, read } = await pair();
  const bad = { ...message('bad'), params: 1n };
  const sent = writer.write(bad);
  await expect(sent).rejects.toThrow('BigInt');
  await writer.write(message('next'));
  await expect.poll(() => read).toEqual([message('next')]);
});
