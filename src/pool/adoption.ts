import { HoldfastError } from '../base/errors';
import type { PooledKernel } from '../kernel/kernel';
import type { PoolCore } from './core';
import { identityOfRecord, type RunRecord, type SessionRecord } from './records';
import type { RunCall } from './runCall';
import type { Session } from './session';
import type { AdoptedCaller, PoolExecuteOptions } from './types';

interface AdoptionParts {
  /** The kernel of a record, if it still is there. */
  reattach(record: SessionRecord, signal: AbortSignal): Promise<PooledKernel | undefined>;
  /** Of an earlier pool: with no code in its record it was sent, and only its end is still to come. */
  createRun(request: PoolExecuteOptions, earlier: RunRecord): RunCall;
  callerOf(run: RunRecord, session: SessionRecord): AdoptedCaller;
  onRun(session: Session, call: RunCall): void;
}

/** Takes up what an earlier pool had recorded. Slots are taken at once; kernels come as they are found again. */
export function adopt(
  core: PoolCore,
  records: readonly SessionRecord[],
  parts: AdoptionParts,
): void {
  core.batch(() => {
    for (const record of records) adoptSession(core, record, parts);
  });
}

function adoptSession(core: PoolCore, record: SessionRecord, parts: AdoptionParts): void {
  const session = core.adopt(identityOfRecord(record), record);
  const { execution } = record;
  // Its turn has begun. In line it would be recorded as one that waits, and be sent by the pool after this one.
  if (execution) takeUp(session, record, execution, parts, (call) => session.lane.resume(call));
  for (const run of record.queue) {
    // The callers of the others died with the window.
    if (run.code === undefined) continue;
    takeUp(session, record, run, parts, (call) => session.turns.enqueue(call));
  }
  session.begin(async (signal) => {
    const kernel = await parts.reattach(record, signal);
    if (kernel) return kernel;
    core.news.lost(session.key, session.owners.holders, 'it ended while the window was away');
    // What comes instead has nothing to lose yet.
    session.turns.restart(false);
    const text = 'The kernel ended while the window was away.';
    session.lane.cutOff(text);
    if (session.lane.queue.length > 0) return core.startKernel(session, signal);
    throw new HoldfastError('kernel_not_found', text);
  });
}

function takeUp(
  session: Session,
  record: SessionRecord,
  run: RunRecord,
  parts: AdoptionParts,
  place: (call: RunCall) => void,
): void {
  const { sessionId, cwd, interpreter } = session.identity;
  const request: PoolExecuteOptions = {
    ...parts.callerOf(run, record),
    cwd,
    sessionId,
    ...(interpreter === undefined ? {} : { interpreter }),
    ...(run.ownerId === undefined ? {} : { ownerId: run.ownerId }),
    ...(run.origin === undefined ? {} : { origin: run.origin }),
    ...(run.deadlineAt === undefined ? {} : { deadlineMs: run.deadlineAt }),
    ...(run.source === undefined ? {} : { source: run.source }),
  };
  const call = parts.createRun(request, run);
  place(call);
  parts.onRun(session, call);
}
