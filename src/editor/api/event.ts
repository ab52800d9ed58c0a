import type { Event as EditorEvent } from 'vscode';
import type { Event } from '../../base/event';

/** An event of ours as the editor's extensions know events. */
export function asEditorEvent<T>(event: Event<T>): EditorEvent<T> {
  return (listener, thisArgs, disposables) => {
    const subscription = event((fact) => {
      listener.call(thisArgs, fact);
    });
    disposables?.push(subscription);
    return subscription;
  };
}
