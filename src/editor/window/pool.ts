import type { DisposableStore } from '../../base/disposable';
import type { Later } from '../../base/lazy';
import type { KernelHosting } from '../../hosting';
import { createKernelPool } from '../../pool/pool';
import type { KernelPool } from '../../pool/types';
import { followLateOutput } from '../follow';
import type { Python } from '../python';
import { startKernel } from '../python/startPython';
import { keepForNextWindow, keptKeys } from '../reload/keep';
import type { LiveSessions } from '../reload/liveSessions';
import type { TakenUp } from '../reload/takeUp';
import { mayEvict, ownerKind } from '../sessions/owners';
import type { Essentials } from './essentials';
import type { KeptTranscripts } from './records';

interface PoolOptions
  extends
    Pick<KeptTranscripts, 'keepAgain'>,
    Pick<
      Essentials,
      | 'clock'
      | 'log'
      | 'ownerId'
      | 'diagnostics'
      | 'model'
      | 'book'
      | 'transcript'
      | 'configuration'
    > {
  readonly store: DisposableStore;
  readonly kernelHost: Later<KernelHosting>;
  readonly liveSessions: Pick<LiveSessions, 'note'>;
  readonly python: { get(): Promise<Python> };
  /** What the window before this one has left. */
  earlier(): Promise<TakenUp>;
}

/** The pool of this window, which follows the settings; whoever shows sessions is attached to it. */
export async function createPool(options: PoolOptions): Promise<KernelPool> {
  const { store, clock, log, ownerId, diagnostics, model, book, transcript } = options;
  const [host, earlier] = await Promise.all([options.kernelHost.get(), options.earlier()]);
  const backend = await options.python.get();
  const settings = await options.configuration();
  // From here on the host is told what a window after this one has to know, each thing before it takes effect.
  keepForNextWindow({ host, ownerId, book, transcript });
  const pool = createKernelPool({
    ...settings.forPool(),
    ...earlier,
    onRecord: (id, record) => host.keep(keptKeys.session(id), record),
    startKernel: (request) => startKernel(request, backend, host),
    preludeContent: (session) => backend.preludes.contentOf(session),
    ownerKind,
    mayEvict,
    clock,
    log,
  });
  store.add(settings.onDidChange(() => pool.configure(settings.forPool())));
  model.attach(pool);
  store.add(
    pool.onDidChangeSessions(() => options.liveSessions.note(pool.sessions(), host.hostPid)),
  );
  store.add(diagnostics.follow(pool));
  store.add(followLateOutput(pool, model, transcript));
  // Not before: what is shown again of the window before has been kept by that.
  store.add(transcript.onDidChangeLate((executionId) => options.keepAgain(executionId)));
  return pool;
}
