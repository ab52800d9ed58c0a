import { connect, type Socket } from 'node:net';
import { greetHost } from '../protocol/handshake';

/**
 * Connects to a kernel host and takes its one place. Rejects when it is refused, and when `signal` aborts. The socket
 * does not keep this process alive.
 */
export async function connectTo(
  address: string,
  token: string,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await open(address, signal);
  try {
    await greetHost(socket, token, signal);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  socket.unref();
  return socket;
}

function open(address: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const onAbort = (): void => void socket.destroy(new Error('It did not accept in time.'));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', reject);
      // From here on what counts is that the socket closes.
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
