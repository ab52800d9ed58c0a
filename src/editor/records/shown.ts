import type { RunRecordEntry } from '../../runner/records';
import type { Piece } from '../../webview/protocol';
import type { EarlierRun } from '../panel/sessionTranscript';
import type { ShownRun } from '../panel/transcript';
import { boundedCode, boundedOutput } from './boundedOutput';
import type { KeptRun } from './keptRun';
import type { RecordLimits } from './limits';

/** What is needed of a run's record, besides what the transcript shows of it. */
export type RecordedRun = Pick<
  RunRecordEntry,
  | 'ownerId'
  | 'origin'
  | 'excludeFromContext'
  | 'exitCode'
  | 'cancelled'
  | 'endedAt'
  | 'notes'
  | 'artifact'
  | 'executionId'
> & {
  /** It ended for this window because that was closing. */
  readonly isLeftBehind?: boolean;
};

/** A run as it is kept: what was shown of it, and how it ended. */
export function keptRunOf(record: RecordedRun, shown: ShownRun, limits: RecordLimits): KeptRun {
  const { head } = shown;
  return {
    what: 'run',
    id: shown.executionId,
    code: boundedCode(head.code, limits.codeBytes),
    language: head.language,
    source: head.source,
    owner: head.owner,
    ownerId: record.ownerId,
    origin: record.origin,
    state: record.isLeftBehind && head.startedAt !== null ? 'left' : stateOf(record),
    queuedAt: head.queuedAt,
    startedAt: head.startedAt,
    endedAt: record.endedAt,
    remark: record.notes?.join('\n') ?? null,
    artifact: record.artifact ?? null,
    excludeFromContext: record.excludeFromContext,
    ...keptOutputOf(shown, [], limits),
  };
}

/** The same with what is shown of it now. */
export function keptAgain(kept: KeptRun, shown: ShownRun, limits: RecordLimits): KeptRun {
  return { ...kept, ...keptOutputOf(shown, kept.pieces, limits) };
}

/** The same as the transcript takes it. */
export function earlierOf(run: KeptRun): EarlierRun {
  const { id, code, language, source, owner, state, queuedAt, startedAt, endedAt } = run;
  const { remark, artifact, pieces, after } = run;
  return {
    executionId: id,
    head: {
      ...{ code, language, source, owner, state },
      ...{ queuedAt, startedAt, endedAt, remark, artifact },
    },
    pieces,
    after,
    endedAt,
  };
}

function stateOf({ cancelled, exitCode }: RecordedRun): KeptRun['state'] {
  if (cancelled) return 'cancelled';
  return exitCode === 0 ? 'ok' : 'error';
}

function keptOutputOf(
  { pieces, after }: ShownRun,
  otherwise: readonly Piece[],
  limits: RecordLimits,
): Pick<KeptRun, 'pieces' | 'after'> {
  return {
    pieces: boundedOutput(pieces.length === 0 ? otherwise : pieces, limits),
    after: boundedOutput(after, limits),
  };
}
