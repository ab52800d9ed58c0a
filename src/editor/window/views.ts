import type { DisposableStore } from '../../base/disposable';
import type { ChatOwners } from '../agent/chatOwners';
import type { BackgroundWork } from '../background/backgroundWork';
import { followContexts, followSessions } from '../follow';
import type { LeftOut } from '../records/leftOut';
import type { Runs } from '../runs';
import { SessionsTree } from '../sessions/sessionsTree';
import { sessionKeyOf } from '../sessions/target';
import { StatusBar } from '../statusBar';
import type { Essentials } from './essentials';

interface ViewsOptions extends Pick<
  Essentials,
  'clock' | 'ownerId' | 'model' | 'book' | 'transcript' | 'chatNames' | 'nameOf'
> {
  readonly store: DisposableStore;
  readonly runs: Runs;
  readonly background: BackgroundWork;
  readonly chats: ChatOwners;
  readonly leftOut: LeftOut;
}

/** All that shows the window's sessions, but for the panel itself: its list of them, menus, the status bar, the tree. */
export function showSessions(options: ViewsOptions): void {
  const { store, clock, ownerId, model, book, transcript, chatNames, nameOf } = options;
  const { runs, background, chats, leftOut } = options;
  store.add(followSessions(model, book, runs, transcript, background));
  store.add(followContexts(model, runs, background));
  store.add(new StatusBar(model, book, runs, clock));
  store.add(
    new SessionsTree(
      model,
      book,
      {
        ownerId,
        labelOf: (session) => book.labelOf(session),
        nameOf,
        firstLineOf: (executionId) => runs.get(executionId)?.firstLine,
        inOwnKernels: () => runs.inOwnKernels(),
        isLeftOut: (session) => leftOut.has(sessionKeyOf(session)),
        backgroundRuns: () => background.look(),
        letsGoAt: (owner) => chats.letsGoAt(owner),
      },
      clock,
      runs.onDidChange,
      background.onDidChange,
      leftOut.onDidChange,
      chats.onDidChange,
      chatNames.onDidChange,
    ),
  );
}
