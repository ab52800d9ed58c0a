import * as v from 'valibot';
import { HoldfastError } from '../base/errors';
import { parse } from './parse';

/** The one line that a kernel host writes on its stdout, once it listens. */
const readyLine = v.object({
  /** A socket's path, or a pipe's name on Windows. */
  address: v.string(),
});

type ReadyLine = v.InferOutput<typeof readyLine>;

export function formatReadyLine(ready: ReadyLine): string {
  return `${JSON.stringify(ready)}\n`;
}

export function parseReadyLine(line: string): ReadyLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new HoldfastError('protocol', 'The kernel host said something else than ready.', {
      cause: error,
    });
  }
  return parse(readyLine, value, 'ready line');
}
