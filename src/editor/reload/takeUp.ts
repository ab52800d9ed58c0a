import type { Log } from '../../base/log';
import type { Adoption, Place } from '../../hosting';
import type { RunRecord, SessionRecord } from '../../pool/records';
import type { KernelPoolOptions } from '../../pool/types';
import type { Transcript } from '../panel/transcript';
import type { Preludes } from '../python/preludes';
import type { Runs } from '../runs';
import type { SessionBook } from '../sessions/sessionBook';
import { sessionKeyOf } from '../sessions/target';
import { parseKept, renameOwner } from './keptState';
import { replay } from './replay';

export interface TakeUpParts {
  readonly ownerId: string;
  readonly transcript: Transcript;
  readonly book: SessionBook;
  readonly runs: Runs;
  readonly preludes: Pick<Preludes, 'takeUp'>;
  /** Of kernels that somebody else has taken up. */
  readonly otherPlaces: readonly Place[];
  readonly log: Log;
}

export type TakenUp = Pick<
  KernelPoolOptions,
  'adopt' | 'reattachKernel' | 'adoptedCaller' | 'onAdoptedRun'
>;

/**
 * Goes on where the window before this one has left: its sessions are this window's, the transcript shows what it
 * showed, and the pool is to be built with what this returns.
 */
export function takeUp(adoption: Adoption, parts: TakeUpParts): TakenUp {
  const { ownerId, transcript, book, runs, preludes, log } = parts;
  const before = parseKept(adoption.kept);
  if (before.book) book.restore(before.book);
  const records = before.records.map((record) =>
    before.window === undefined ? record : renameOwner(record, before.window, ownerId),
  );
  const resumed = new Set(
    records.flatMap(({ stop, execution }) => (stop || !execution ? [] : [execution.id])),
  );
  const codes = new Map<string, string>();
  for (const [key, events] of adoption.histories) {
    for (const event of events) if (event.what === 'begun') codes.set(event.execution, event.code);
    const known = records.find((record) => sessionKeyOf(record) === key) ?? book.withKey(key);
    if (known === undefined) continue;
    const session = { key, label: book.labelOf(known), sessionId: known.sessionId };
    replay(transcript, session, events, resumed);
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
        // What was sent stands in the transcript, as far as that goes back.
        isShown: codes.has(run.id),
        startedAt: run.startedAt,
        source: run.source,
      });
    },
    onAdoptedRun: ({ executionId, result }) => runs.follow(executionId, result),
  };
}
