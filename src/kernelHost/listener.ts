import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { greetClient, type Refusal } from '../protocol/handshake';
import { socketPathIn } from '../protocol/runtimeFolder';

const GREET_WITHIN_MS = 5_000;

/** Where a host listens: a socket in its folder, or on Windows a pipe whose name nobody can guess. */
function freshAddress(folder: string): string {
  if (process.platform !== 'win32') return socketPathIn(folder);
  return `\\\\.\\pipe\\holdfast-${randomBytes(16).toString('hex')}`;
}

/**
 * Listens, greets whoever connects, and hands over the sockets of those that proved themselves and were admitted.
 * Resolves, once connections are accepted, to the address.
 */
export async function listen(
  folder: string,
  token: string,
  admit: () => Refusal | undefined,
  onClient: (socket: Socket) => void,
  log: Log,
): Promise<{ server: Server; address: string }> {
  const address = freshAddress(folder);
  const server = createServer((socket) => {
    // Whatever goes wrong closes the socket, and that is what counts.
    socket.on('error', (error) => log.debug(`Socket: ${error.message}`));
    const limit = AbortSignal.timeout(GREET_WITHIN_MS);
    greetClient(socket, token, limit, admit).then(
      (refusal) => {
        if (refusal === undefined) return onClient(socket);
        log.warn(`A client was refused: ${refusal}.`);
        socket.end();
      },
      (error: unknown) => {
        log.warn(`A client was turned away: ${messageOf(error)}`);
        socket.destroy();
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, resolve);
  });
  return { server, address };
}
