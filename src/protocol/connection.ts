import type { Socket } from 'node:net';
import {
  createMessageConnection,
  SocketMessageReader,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import { WholeMessageWriter } from './wholeMessages';

export interface Connected {
  readonly connection: MessageConnection;
  /**
   * For the socket's close: resolves when what came before it has been heard. The connection takes one message in each turn
   * of the event loop, and drops the rest when it is disposed.
   */
  lastWords(): Promise<void>;
}

/** Messages over a socket that has been greeted. The caller lets them in with `listen`, and disposes the connection. */
export function connectOver(socket: Socket): Connected {
  let handled = 0;
  const connection = createMessageConnection(
    new SocketMessageReader(socket),
    new WholeMessageWriter(socket),
    undefined,
    {
      messageStrategy: {
        handleMessage: (message, handle) => {
          handled += 1;
          return handle(message);
        },
      },
    },
  );
  return {
    connection,
    async lastWords() {
      for (let before = -1; before !== handled;) {
        before = handled;
        await new Promise(setImmediate);
      }
    },
  };
}
