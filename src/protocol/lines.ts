import type { Socket } from 'node:net';
import { HoldfastError } from '../base/errors';
import { deferred } from '../base/deferred';

const LONGEST_LINE = 4_096;

/**
 * Reads one line from a socket and leaves every byte after it unread. Rejects with HoldfastError when the socket closes,
 * the line is too long, or `signal` aborts.
 */
export async function readLine(socket: Socket, signal: AbortSignal): Promise<string> {
  const line = deferred<string>();
  const chunks: Buffer[] = [];
  const refuse = (message: string): void => line.reject(new HoldfastError('protocol', message));

  const onReadable = (): void => {
    for (;;) {
      const chunk: unknown = socket.read();
      if (!Buffer.isBuffer(chunk)) return;
      const end = chunk.indexOf(0x0a);
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      if (chunks.reduce((sum, each) => sum + each.length, 0) > LONGEST_LINE) {
        return refuse('The other side sent too long a greeting.');
      }
      if (end < 0) continue;
      // At once: what is put back is told again before the promise's reactions run.
      socket.off('readable', onReadable);
      const rest = chunk.subarray(end + 1);
      if (rest.length > 0) socket.unshift(rest);
      return line.resolve(Buffer.concat(chunks).toString('utf8'));
    }
  };
  const onClose = (): void => refuse('The other side closed the connection during the greeting.');
  const onAbort = (): void => refuse('The other side did not finish the greeting in time.');

  socket.on('readable', onReadable);
  socket.once('close', onClose);
  socket.once('end', onClose);
  socket.once('error', line.reject);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  onReadable();
  try {
    return await line.promise;
  } finally {
    socket.off('readable', onReadable);
    socket.off('close', onClose);
    socket.off('end', onClose);
    socket.off('error', line.reject);
    signal.removeEventListener('abort', onAbort);
  }
}
