import { watch } from 'node:fs';
import { systemClock } from '../base/clock';
import { DisposableStore, toDisposable, type Disposable } from '../base/disposable';
import { HoldfastError, messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { lifeOf, reapFolder } from '../ledger/reap';
import { platformProcesses, stateOf } from '../platform/processes';
import { readHostFile, type HostFile } from '../protocol/hostFile';
import { PROTOCOL_VERSION } from '../protocol/messages';
import { findRuntimeFolders, readToken } from '../protocol/runtimeFolder';
import { connectTo } from './connect';
import type { ReachedHost } from './launch';

/** A living kernel host of this user, of whichever window. */
export interface FoundHost {
  readonly folder: string;
  readonly pid: number;
  /** Of a window on the same workspace. */
  readonly isOfWorkspace: boolean;
  /** Its client is gone. */
  readonly isOrphan: boolean;
  /** And it speaks our version: a window may take its place. */
  readonly isFree: boolean;
  readonly announced: HostFile;
}

interface DiscoverOptions {
  readonly workspace: string;
  readonly runtimeDir?: string | undefined;
  readonly log: Log;
}

// As long as a host gives a greeting: what is given up here is everything that runs there.
const CLAIM_WITHIN_MS = 5_000;

const LOOK_AGAIN_AFTER_MS = 500;

/**
 * Looks for the kernel hosts that live. What dead ones have left is ended in passing, and not waited for. Cheap: where
 * there is no host there is nothing to read.
 */
export async function discoverHosts(options: DiscoverOptions): Promise<readonly FoundHost[]> {
  const found: FoundHost[] = [];
  for (const folder of await findRuntimeFolders(options.runtimeDir)) {
    const host = await look(folder, options);
    if (host !== undefined) found.push(host);
  }
  return found;
}

/** The one that a window may take up without asking: with several nobody knows which is meant. */
export function hostToTakeUp(found: readonly FoundHost[]): FoundHost | undefined {
  const free = found.filter((host) => host.isOfWorkspace && host.isFree);
  return free.length === 1 ? free[0] : undefined;
}

/**
 * Resolves at the next sign of life of a host, such as the loss of its client, and after `limitMs` at the latest. A
 * window that reloads may be there before the one that it was has gone.
 */
export function nextChangeOf(host: FoundHost, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const store = new DisposableStore();
    const done = (): void => {
      store.dispose();
      resolve();
    };
    // What happened between the look before and the watching is seen by the next look, so that one must not be far.
    store.add(systemClock.after(Math.min(limitMs, LOOK_AGAIN_AFTER_MS), done));
    store.add(watchHost(host, done));
  });
}

/**
 * Tells of each sign of life of a host, its end included, until it is disposed. A host that is killed gives none, and what
 * happened before this call is not told. Where the system watches no more, nothing is.
 */
export function watchHost({ folder }: FoundHost, onChange: () => void): Disposable {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    // Its folder is gone: so is the host.
    watcher.on('error', onChange);
    return toDisposable(() => watcher.close());
  } catch {
    // It is gone already, or the system watches no more: the next look tells.
    return toDisposable(() => undefined);
  }
}

/** Takes its one place. Rejects when another client was faster, or it does not answer within 5 s. */
export async function claimHost({ folder, pid, announced }: FoundHost): Promise<ReachedHost> {
  const signal = AbortSignal.timeout(CLAIM_WITHIN_MS);
  const socket = await connectTo(announced.address, await readToken(folder), signal);
  return { pid, socket, folder };
}

/** Asks a host whose client is gone to stop its kernels and leave, now rather than at the end of its time. */
export async function dismissHost({ folder, announced: { host } }: FoundHost): Promise<void> {
  const { pid, startTime } = host;
  const { client } = await readHostFile(folder);
  if (client.state !== 'gone') {
    throw new HoldfastError('bad_input', 'A window has taken these kernels up meanwhile.');
  }
  // Its pid may have become another's since it was found.
  const state =
    startTime === undefined ? 'unknown' : await stateOf(platformProcesses(), { pid, startTime });
  if (state === 'alive') process.kill(pid, 'SIGTERM');
  if (state === 'unknown') {
    throw new HoldfastError(
      'stop_unconfirmed',
      `Whether process ${pid} still is that kernel host can't be told now. Try again.`,
    );
  }
}

async function look(
  folder: string,
  { workspace, log }: DiscoverOptions,
): Promise<FoundHost | undefined> {
  const processes = platformProcesses();
  let announced: HostFile;
  try {
    announced = await readHostFile(folder);
  } catch (error) {
    // It is being started, or it died before it could say anything.
    log.debug(`${folder} announces no kernel host: ${messageOf(error)}`);
    reapFolder(folder, { processes, log }).catch((failure: unknown) =>
      log.error(`${folder} could not be cleared.`, failure),
    );
    return undefined;
  }
  const life = await lifeOf(announced.host, processes);
  if (life === 'living') {
    return {
      folder,
      pid: announced.host.pid,
      isOfWorkspace: announced.workspace === workspace,
      isOrphan: announced.client.state === 'gone',
      isFree: announced.client.state === 'gone' && announced.version === PROTOCOL_VERSION,
      announced,
    };
  }
  if (life === 'dead') {
    reapFolder(folder, { processes, log }).catch((failure: unknown) =>
      log.error(`What a dead kernel host left in ${folder} could not be ended.`, failure),
    );
  }
  return undefined;
}
