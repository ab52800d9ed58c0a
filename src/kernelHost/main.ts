import { closeSync, openSync, writeSync } from 'node:fs';
import os from 'node:os';
import { formatReadyLine } from '../protocol/readyLine';
import { KernelHost } from './host';

const STDOUT = 1;

/** usage: kernelHost.js <private folder> <folder of the runners>. Says where it listens in one line on its stdout. */
async function main(): Promise<void> {
  const [folder, runnersDir] = process.argv.slice(2);
  if (folder === undefined || runnersDir === undefined) {
    throw new Error('usage: kernelHost.js <private folder> <folder of the runners>');
  }
  const { host, address } = await KernelHost.start({ folder, runnersDir });
  const leave = (): void => void host.leave();
  process.on('SIGTERM', leave).on('SIGINT', leave).on('SIGHUP', leave);
  const breakDown = (error: unknown): void => {
    // What is said in this turn is sent at its end.
    void host.breakDown(error).finally(() => setImmediate(() => process.exit(1)));
  };
  process.on('uncaughtException', breakDown).on('unhandledRejection', breakDown);

  sayReady(formatReadyLine({ address }));
  void host.reap();
  await host.whenEnded;
  process.exit(0);
}

function sayReady(line: string): void {
  try {
    writeSync(STDOUT, line);
  } catch {
    // Who started us has gone: nobody will connect, and the host leaves for that.
  }
  // Closed, so that nobody waits for more; then taken again, so that no socket becomes "stdout".
  closeSync(STDOUT);
  openSync(os.devNull, 'w');
}

void main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
});
