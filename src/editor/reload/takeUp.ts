import { systemClock } from '../../base/clock';
import type { Log } from '../../base/log';
import type { Adoption, Place } from '../../hosting';
import { languageOf } from '../../kernel/language';
import type { RunRecord, SessionRecord } from '../../pool/records';
import type { KernelPoolOptions } from '../../pool/types';
import type { Transcript } from '../panel/transcript';
import type { Preludes } from '../python/preludes';
import type { RecordedRun } from '../records/shown';
import type { Runs } from '../runs';
import type { SessionBook } from '../sessions/sessionBook';
import { nameOfKey, sessionKeyOf } from '../sessions/target';
import { parseKept, renameOwner } from './keptState';
import { endOf, replay, type PastEvent } from './replay';
import { codesIn, outlineOf, sessionsInOrder } from './shownBefore';

export interface TakeUpParts {
  readonly ownerId: string;
  readonly transcript: Transcript;
  readonly book: SessionBook;
  readonly runs: Pick<Runs, 'takeUp' | 'follow'>;
  readonly preludes: Pick<Preludes, 'takeUp'>;
  /** Keeps what came of a run that began in the window before. */
  record(run: RecordedRun): void;
  /** Of kernels that somebody else has taken up. */
  readonly otherPlaces: readonly Place[];
  readonly log: Log;
}

export type TakenUp = Pick<
  KernelPoolOptions,
  'adopt' | 'lost' | 'reattachKernel' | 'adoptedCaller' | 'onAdoptedRun'
>;

/**
 * Goes on where the window before this one has left: its sessions are this window's, the transcript shows what it
 * showed, and the pool is to be built with what this returns.
 */
export function takeUp(adoption: Adoption, parts: TakeUpParts): TakenUp {
  const { ownerId, transcript, book, runs, preludes, log } = parts;
  const before = parseKept(adoption.kept);
  if (before.book) book.restore(before.book);
  const left = before.records.map((record) =>
    before.window === undefined ? record : renameOwner(record, before.window, ownerId),
  );
  const ends = left.flatMap((record) => endWithKernel(record, adoption) ?? []);
  const records = left.map((record) => withoutThese(record, ends));
  const resumed = new Set(
    records.flatMap((record) =>
      !record.execution || !adoption.holds(record) ? [] : [record.execution.id],
    ),
  );
  const { histories } = adoption;
  const outline = outlineOf(before.shown, histories, records);
  for (const key of sessionsInOrder(histories, outline, records)) {
    const ofSession = outline.filter((entry) => entry.sessionKey === key);
    const known = records.find((record) => sessionKeyOf(record) === key) ?? book.withKey(key);
    const label = known ? book.labelOf(known) : ofSession.at(-1)?.sessionLabel;
    if (label === undefined) continue;
    const language = languageOf(nameOfKey(key)?.sessionId ?? '') ?? 'python';
    const session = { key, label, language, resumed, outline: ofSession };
    replay(transcript, session, histories.get(key) ?? []);
  }
  const codes = codesIn(histories);
  for (const { execution, at, reply } of ends) {
    const facts = factsOf(execution, left, ownerId);
    parts.record({ ...facts, ...endOf(reply), endedAt: at });
  }
  adoption.stopOthers([...records, ...parts.otherPlaces]);
  log.info(`${records.length} sessions of the window before are taken up.`);

  return {
    adopt: records,
    async reattachKernel(record, signal) {
      const kernel = await adoption.reattach(record, signal);
      return kernel && preludes.takeUp(kernel, record);
    },
    adoptedCaller(run: RunRecord, session: SessionRecord) {
      return runs.takeUp({
        executionId: run.id,
        session: { ...session, label: book.labelOf(session) },
        queuedAt: run.queuedAt,
        isOwn: run.ownerId === ownerId,
        code: run.code ?? codes.get(run.id) ?? '',
        isShown: transcript.shownRun(run.id) !== undefined,
        startedAt: run.startedAt,
        source: run.source,
      });
    },
    onAdoptedRun({ executionId, result }) {
      runs.follow(executionId, result);
      const facts = factsOf(executionId, records, ownerId);
      // A run that fails is not recorded; it has been told of.
      result.then(
        (end) => parts.record({ ...end, ...facts, endedAt: systemClock.now() }),
        () => undefined,
      );
    },
  };
}

function factsOf(
  executionId: string,
  records: readonly SessionRecord[],
  ownerId: string,
): Pick<RecordedRun, 'executionId' | 'ownerId' | 'origin' | 'excludeFromContext'> {
  const session = records.find(({ execution, queue }) =>
    [execution, ...queue].some((run) => run?.id === executionId),
  );
  const run = [session?.execution, ...(session?.queue ?? [])].find(
    (each) => each?.id === executionId,
  );
  const by = run?.ownerId ?? ownerId;
  return {
    executionId,
    ownerId: by,
    origin: run?.origin ?? by,
    // Whether it was to be kept from agents did not come along: then it is.
    excludeFromContext: true,
  };
}

type RunEnd = Extract<PastEvent, { what: 'finished' }>;

/** A kernel that has ended meanwhile tells nothing more: how its last run ended is in the history, or nowhere. */
function endWithKernel(record: SessionRecord, adoption: Adoption): RunEnd | undefined {
  const { execution } = record;
  if (!execution || adoption.holds(record)) return undefined;
  return [...adoption.histories.values()]
    .flat()
    .filter((event) => event.what === 'finished')
    .find((event) => event.execution === execution.id);
}

function withoutThese(record: SessionRecord, ends: readonly RunEnd[]): SessionRecord {
  const { execution, ...rest } = record;
  return ends.some((end) => end.execution === execution?.id) ? rest : record;
}
