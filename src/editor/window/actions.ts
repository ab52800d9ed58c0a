import type { DisposableStore } from '../../base/disposable';
import { BackgroundActions } from '../background/backgroundActions';
import type { BackgroundWork } from '../background/backgroundWork';
import { openSetting } from '../openSetting';
import { prompts } from '../prompts';
import type { Runs } from '../runs';
import { FullPool } from '../sessions/fullPool';
import { pickToFree } from '../sessions/pickSession';
import { SessionActions } from '../sessions/sessionActions';
import { offerMoreThanInterrupts } from '../sessions/unheeded';
import type { Essentials } from './essentials';
import type { Kernels } from './kernels';

interface ActionsOptions extends Pick<
  Essentials,
  'clock' | 'ownerId' | 'onFailure' | 'model' | 'book' | 'transcript' | 'nameOf'
> {
  readonly store: DisposableStore;
  readonly pool: Kernels['pool'];
  readonly runs: Runs;
  readonly background: BackgroundWork;
}

/** What a person does to sessions and to background runs, asked first where it hits others. */
export interface Actions {
  readonly actions: SessionActions;
  readonly backgroundActions: BackgroundActions;
  readonly fullPool: FullPool;
}

/** Also offers them unasked: when an interrupt is not heeded, and when a run waits for a slot. */
export function createActions(options: ActionsOptions): Actions {
  const { store, clock, ownerId, onFailure, model, book, transcript, nameOf } = options;
  const { pool, runs, background } = options;
  const actions = new SessionActions({
    ...{ ownerId, model, book, runs, transcript, prompts, nameOf },
    pool: () => pool.get(),
    stopBackground: () => background.disposeOwner(ownerId),
  });
  store.add(offerMoreThanInterrupts({ model, book, runs, actions, prompts, onFailure }));
  const fullPool = store.add(
    new FullPool({
      ...{ ownerId, model, book, actions, prompts, clock, onFailure },
      pick: (candidates) => pickToFree(candidates, (session) => book.labelOf(session)),
      changeLimit: () => openSetting('holdfast.capacity'),
    }),
  );
  const backgroundActions = new BackgroundActions({ work: background, prompts });
  return { actions, backgroundActions, fullPool };
}
