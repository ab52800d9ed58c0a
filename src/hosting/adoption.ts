import { HoldfastError, messageOf } from '../base/errors';
import type { Log } from '../base/log';
import type { PooledKernel } from '../kernel/kernel';
import type { Processes } from '../platform/processes';
import * as m from '../protocol/messages';
import type { HistoryEntry } from '../protocol/vocabulary';
import { ANSWER_WITHIN_MS } from './answerLimits';
import type { HostConnection } from './hostConnection';
import { RemoteKernel } from './remoteKernel';

/** What a kernel belongs to, in the words of the window that started it. */
export interface Place {
  readonly id: string;
  readonly incarnation: number;
}

/** What was found in a host whose earlier window is gone. */
export interface Adoption {
  /** What that window gave to be kept, unparsed. */
  readonly kept: ReadonlyMap<string, unknown>;
  /** What happened in each of its sessions, by the name of the history, up to where the kernels go on from. */
  readonly histories: ReadonlyMap<string, readonly HistoryEntry[]>;
  /** Its kernel is still there, or on its way. */
  holds(place: Place): boolean;
  /** The kernel of a place, whose start may have to be waited for; undefined: it is gone. */
  reattach(place: Place, signal: AbortSignal): Promise<PooledKernel | undefined>;
  /** Stops every kernel whose place nobody asked for. */
  stopOthers(places: readonly Place[]): void;
}

/** Takes up what runs in a host that was just claimed. Kernels of single calls, which have no place, are stopped. */
export async function takeUpKernels(
  connection: HostConnection,
  processes: Processes,
  log: Log,
): Promise<Adoption> {
  const survey = await connection.ask(m.survey, {});
  const histories = new Map<string, readonly HistoryEntry[]>();
  const open = new Map<string, PooledKernel>();
  const later = new Map<string, (signal: AbortSignal) => Promise<PooledKernel>>();
  const names = new Map<string, string>();

  const takeUp = async (
    kernel: string,
    history: string,
    signal: AbortSignal,
    withinMs: number,
  ): Promise<PooledKernel> => {
    const remote = new RemoteKernel(kernel, connection, processes, log);
    try {
      const before = histories.get(history) ?? [];
      const entries = await remote.takeUp(before, signal, withinMs);
      histories.set(history, [...before, ...entries]);
      return remote;
    } catch (error) {
      remote.discard();
      throw error;
    }
  };
  const stopNow = async (kernel: string): Promise<void> => {
    // Its start may still go on: opening waits for that.
    const { start, stop } = connection.answerLimits;
    await connection.ask(m.openKernel, { kernel, after: 0 }, { withinMs: start });
    await connection.ask(m.shutdownKernel, { kernel }, { withinMs: stop });
  };
  const stop = (kernel: string): void => {
    stopNow(kernel).catch((error: unknown) =>
      log.info(`Kernel ${kernel}, which nobody holds: ${messageOf(error)}`),
    );
  };

  /** The same once more, or when its start is over. One that can't be had is stopped: nobody would hold it. */
  const takeUpOrStop = async (
    kernel: string,
    history: string,
    signal: AbortSignal,
  ): Promise<PooledKernel> => {
    try {
      return await takeUp(kernel, history, signal, connection.answerLimits.start);
    } catch (error) {
      if (!isGone(error)) stop(kernel);
      throw error;
    }
  };

  for (const { kernel, place, history, started } of survey.kernels) {
    if (place === undefined) {
      stop(kernel);
      continue;
    }
    const key = keyOf(place);
    names.set(key, kernel);
    if (!started) {
      later.set(key, (signal) => takeUpOrStop(kernel, history, signal));
      continue;
    }
    try {
      const never = new AbortController().signal;
      open.set(key, await takeUp(kernel, history, never, ANSWER_WITHIN_MS));
    } catch (error) {
      log.info(`Kernel ${kernel} could not be taken up: ${messageOf(error)}`);
      if (!isGone(error)) later.set(key, (signal) => takeUpOrStop(kernel, history, signal));
    }
  }
  for (const name of survey.histories) {
    if (histories.has(name)) continue;
    const { entries } = await connection.ask(m.readHistory, { history: name, after: 0 });
    histories.set(name, entries);
  }

  return {
    kept: new Map(Object.entries(survey.kept)),
    histories,
    holds: (place) => open.has(keyOf(place)) || later.has(keyOf(place)),
    reattach: async (place, signal) => open.get(keyOf(place)) ?? later.get(keyOf(place))?.(signal),
    stopOthers(places) {
      const wanted = new Set(places.map(keyOf));
      for (const [key, kernel] of names) if (!wanted.has(key)) stop(kernel);
    },
  };
}

/** The host's own word; that it did not answer proves nothing. */
function isGone(error: unknown): boolean {
  const code = error instanceof HoldfastError ? error.code : undefined;
  return code === 'kernel_not_found' || code === 'kernel_died';
}

const keyOf = ({ id, incarnation }: Place): string => `${id}/${incarnation}`;
