import type { LogOutputChannel } from 'vscode';
import type { Log } from '../base/log';

/** The product's log in the Output panel, at the level that the person chose there. */
export function logTo(channel: LogOutputChannel): Log {
  return {
    trace: (message) => channel.trace(message),
    debug: (message) => channel.debug(message),
    info: (message) => channel.info(message),
    warn: (message) => channel.warn(message),
    error(message, error) {
      if (error === undefined) channel.error(message);
      else channel.error(message, error);
    },
  };
}
