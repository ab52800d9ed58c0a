import type { Event as EditorEvent } from 'vscode';
import type { DisposableStore } from '../../base/disposable';
import { HoldfastError } from '../../base/errors';
import type { Event } from '../../base/event';

/** An event of ours as other extensions know events. `who` listens, for people; listeners go with the store. */
export function asEditorEvent<T>(
  event: Event<T>,
  who: string,
  store: DisposableStore,
): EditorEvent<T> {
  return (listener, thisArgs, disposables) => {
    if (typeof listener !== 'function') {
      throw new HoldfastError('bad_input', `${who}: its listener is no function.`);
    }
    const subscription = store.add(
      event((fact) => {
        listener.call(thisArgs, fact);
      }),
    );
    disposables?.push(subscription);
    return subscription;
  };
}
