import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';

const LONGEST_BYTES = 256 * 1024;

/**
 * A log in a file that never grows beyond 256 KiB: the older half goes. Synchronous, so that the last line before an
 * end is there. `alsoTo` hears each line.
 */
export function fileLog(file: string, alsoTo: (level: LogLevel, message: string) => void): Log {
  const write = (level: LogLevel, message: string): void => {
    alsoTo(level, message);
    if (level === 'trace' || level === 'debug') return;
    try {
      appendFileSync(file, `${new Date().toISOString()} ${level} ${message}\n`, { mode: 0o600 });
      if (statSync(file).size > LONGEST_BYTES) {
        writeFileSync(file, readFileSync(file).subarray(-LONGEST_BYTES / 2));
      }
    } catch {
      // The folder may be gone or the disk full: a host that cannot log still has kernels to stop.
    }
  };
  return {
    trace: (message) => write('trace', message),
    debug: (message) => write('debug', message),
    info: (message) => write('info', message),
    warn: (message) => write('warn', message),
    error: (message, error) => write('error', withDetails(message, error)),
  };
}

export type LogLevel = keyof Log;

function withDetails(message: string, error: unknown): string {
  if (error === undefined) return message;
  const stack = error instanceof Error ? error.stack : undefined;
  return `${message} ${stack ?? messageOf(error)}`;
}
