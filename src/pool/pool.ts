import { systemClock } from '../base/clock';
import { messageOf } from '../base/errors';
import { silentLog } from '../base/log';
import type { PooledKernel } from '../kernel/kernel';
import { adopt } from './adoption';
import { PoolCore, type CoreParts } from './core';
import { causeOnEntry } from './deadline';
import { cleanUp, stopForGood } from './disposal';
import { identityOf, type SessionIdentity } from './key';
import { runPerCall } from './perCall';
import {
  forgetSession,
  interruptRun,
  killSession,
  releaseOwnerOf,
  restartSession,
  retryStop,
  stderrOf,
  stopSession,
} from './personActions';
import { PreludeDocs } from './preludeDocs';
import { recordOf, type RunRecord } from './records';
import { Recovery } from './recovery';
import { RunCall } from './runCall';
import { settingsFrom } from './settings';
import { SnapshotCache, snapshotOf } from './snapshot';
import type { StopAttempt } from './stopAttempt';
import type {
  ExecutionResult,
  KernelPool,
  KernelPoolOptions,
  PoolExecuteOptions,
  StartRequest,
} from './types';
import { likelyContent, warmUp } from './warmUp';

/**
 * Retains kernels in sessions that owners hold; see `KernelPool` for what each call promises. Nothing starts before
 * the first call. The pool has no end of its own: `disposeAll` leaves it usable.
 */
export function createKernelPool(options: KernelPoolOptions): KernelPool {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? silentLog;

  const startKernel = (
    { cwd, sessionId, interpreter, privateTo }: SessionIdentity,
    owners: readonly string[],
    signal: AbortSignal,
    place?: StartRequest['place'],
  ): Promise<PooledKernel> => {
    const request: StartRequest = {
      cwd,
      sessionId,
      ...(interpreter === undefined ? {} : { interpreter }),
      ...(privateTo === undefined ? {} : { privateTo }),
      ...(place === undefined ? {} : { place }),
      owners,
      signal,
    };
    return recovery.start(() => options.startKernel(request), signal);
  };

  const core = new PoolCore(
    {
      clock,
      log,
      startKernel,
      mayEvict: (victim, waiter) =>
        options.mayEvict?.(snapshotOf(victim), waiter.snapshot()) ?? true,
      isWindow: (ownerId) => options.ownerKind?.(ownerId) === 'window',
      ...recorder(options),
    },
    settingsFrom(options),
  );
  for (const { key, holders, why } of options.lost ?? []) core.news.lost(key, holders, why);
  const recovery = new Recovery({
    clock,
    log,
    hookTimeoutMs: () => core.settings.startTimeoutMs,
    dropDraining: () => core.dropDraining(),
    recoverResources: async () => options.recoverResources?.(),
  });
  const snapshots = new SnapshotCache(core.sessions, core.changes);
  const docs = new PreludeDocs(clock);
  const contentOf = (identity: SessionIdentity): string =>
    options.preludeContent?.(identity) ?? likelyContent(identity);
  let executions = 0;
  // An adopted kernel knows the ids of an earlier pool.
  const poolId = clock.now().toString(36);
  const nextExecutionId = (): string => `run-${poolId}-${++executions}`;

  const createRun = (
    code: string,
    request: PoolExecuteOptions,
    id: string,
    earlier?: RunRecord,
  ): RunCall => {
    const { maxOutputBytes } = core.settings;
    const parts = { clock, log, maxOutputBytes, ...(earlier && { earlier }) };
    return new RunCall(code, request, identityOf(request), id, parts);
  };

  const execute = (code: string, request: PoolExecuteOptions): Promise<ExecutionResult> => {
    const { startTimeoutMs, ownerCleanupMs } = core.settings;
    const call = createRun(code, request, request.executionId ?? nextExecutionId());
    const over = causeOnEntry(request, clock.now());
    if (over) call.notRun(over);
    else if (request.mode === 'per-call') {
      return runPerCall(call, {
        clock,
        startTimeoutMs,
        stopWaitMs: ownerCleanupMs,
        start: (signal) =>
          startKernel(call.identity, call.ownerId === undefined ? [] : [call.ownerId], signal),
      });
    } else core.acquire(call);
    return call.result;
  };

  const disposeOwner = (ownerId: string): Promise<void> => {
    const attempts: StopAttempt[] = [];
    core.batch(() => {
      core.routes.forgetOwner(ownerId);
      core.news.forgetOwner(ownerId);
      for (const place of core.placesOf(ownerId)) {
        const attempt = place.releaseOwner(ownerId);
        if (attempt) attempts.push(attempt);
      }
    });
    return cleanUp(clock, core.settings.ownerCleanupMs, attempts);
  };

  const disposeAll = async (): Promise<void> => {
    const stops: Promise<void>[] = [];
    core.batch(() => {
      for (const session of [...core.sessions.values()]) {
        stops.push(stopForGood(session, clock, core.settings.ownerCleanupMs));
      }
    });
    await Promise.all(stops);
  };

  adopt(core, options.adopt ?? [], {
    createRun: (request, earlier) => createRun(earlier.code ?? '', request, earlier.id, earlier),
    callerOf: (run, session) => options.adoptedCaller?.(run, session) ?? {},
    reattach: async (record, signal) => options.reattachKernel?.(record, signal),
    onRun: ({ id }, { executionId, result }) => {
      result.catch((error: unknown) => log.warn(`An adopted run failed: ${messageOf(error)}`));
      options.onAdoptedRun?.({ id, executionId, result });
    },
  });

  return {
    execute,
    warm: (request) => warmUp(core, { docs, contentOf }, request, nextExecutionId()),
    disposeOwner,
    disposeAll,
    sessions: () => snapshots.all(),
    capacity: () => ({
      capacity: core.settings.capacity,
      counted: core.sessions.size,
      waiting: core.line.waiters.map((waiter) => waiter.snapshot()),
    }),
    onDidChangeSessions: (listener) => core.changes.event(listener),
    onDidLateOutput: core.lateOutputs.event,
    interrupt: (id, executionId) => interruptRun(core, id, executionId),
    restart: (id) => restartSession(core, id, nextExecutionId()),
    kill: (id) => killSession(core, id),
    stop: (id) => stopSession(core, id),
    retryNow: (id) => retryStop(core, id),
    releaseOwner: (id, ownerId) => releaseOwnerOf(core, id, ownerId),
    forget: (id) => forgetSession(core, id),
    stderr: (id) => stderrOf(core, id),
    configure: (settings) => core.configure(settingsFrom(settings, core.settings)),
  };
}

function recorder({ onRecord }: KernelPoolOptions): Pick<CoreParts, 'onRecord' | 'onGone'> {
  if (!onRecord) return {};
  return {
    onRecord: (session) => onRecord(session.id, recordOf(session)),
    onGone: (session) => onRecord(session.id, undefined),
  };
}
