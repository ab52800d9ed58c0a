import { causeOfAbort } from '../pool/deadline';
import { verdictOfNotRun } from '../pool/outcome';
import { OutputLog } from '../pool/outputLog';
import type { ExecutionResult } from '../pool/types';

const NOTE_LIMIT_BYTES = 1_000;

/** The result of a run that was aborted before its code went anywhere. `elapsedMs`: since it was asked for. */
export function notStarted(reason: unknown, elapsedMs: number): ExecutionResult {
  const { note, ...verdict } = verdictOfNotRun(causeOfAbort(reason, elapsedMs));
  const log = new OutputLog(NOTE_LIMIT_BYTES);
  if (note !== undefined) log.closing(note);
  return {
    ...log.summary(),
    ...verdict,
    ...(note === undefined ? {} : { notes: [note] }),
  };
}
