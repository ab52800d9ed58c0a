import net from 'node:net';
import readline from 'node:readline';
import * as vscode from 'vscode';
import type { Answer, Hello, Request } from './messages';

/** Connects to the test that started this VS Code and does what it asks, until the host ends. */
export function activate(context: vscode.ExtensionContext): void {
  const address = process.env['HOLDFAST_REMOTE_CONTROL'];
  if (address === undefined) return;
  const socket = net.connect(address);
  // The test may end first; there is nobody left to tell.
  socket.on('error', () => socket.destroy());
  context.subscriptions.push({ dispose: () => socket.destroy() });

  const send = (message: Hello | Answer): void => {
    socket.write(`${JSON.stringify(message)}\n`);
  };
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  send({ pid: process.pid, folders });
  readline.createInterface({ input: socket }).on('line', (line) => {
    const request = JSON.parse(line) as Request;
    void perform(request).then(send);
  });
}

async function perform({ id, body, argument }: Request): Promise<Answer> {
  try {
    const make = new Function(`return (${body});`) as () => (
      api: typeof vscode,
      argument: unknown,
    ) => unknown;
    return { id, value: await make()(vscode, argument) };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
