import { messageOf } from '../../base/errors';
import type { Disposable, DisposableStore } from '../../base/disposable';
import type { Log } from '../../base/log';

/**
 * Told of chats that the editor unloads, by the proposed `chat.onDidDisposeChatSession`. Only an editor that grants Holdfast
 * the proposal `chatParticipantPrivate` lets it be asked: everywhere else reading or calling it throws, and nobody is told.
 */
export function followUnloading(
  chat: object,
  onUnloaded: (sessionId: string) => void,
  log: Log,
  store: DisposableStore,
): void {
  try {
    const { onDidDisposeChatSession } = chat as { onDidDisposeChatSession?: unknown };
    if (typeof onDidDisposeChatSession !== 'function') return;
    const subscribe = onDidDisposeChatSession as (listener: (id: unknown) => void) => Disposable;
    store.add(
      subscribe((id) => {
        if (typeof id === 'string') onUnloaded(id);
      }),
    );
  } catch (error) {
    log.debug(`The editor does not tell which chats it unloads: ${messageOf(error)}`);
  }
}
