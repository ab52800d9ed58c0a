import { toDisposable, type Disposable } from './disposable';

/** Subscribes to past facts. The subscriber disposes. */
export type Event<T> = (listener: (fact: T) => void) => Disposable;

/**
 * Tells listeners of a fact once state is consistent, in the order of their subscription. One that throws does not
 * stop the others: its error goes to `onListenerError` (default: rethrown on a later turn, where it is seen).
 */
export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<(fact: T) => void>();

  constructor(private readonly onListenerError: (error: unknown) => void = rethrowLater) {}

  readonly event: Event<T> = (listener) => {
    // A wrapper, so that the same function subscribed twice is two subscriptions.
    const subscription = (fact: T): void => listener(fact);
    this.listeners.add(subscription);
    return toDisposable(() => this.listeners.delete(subscription));
  };

  get hasListeners(): boolean {
    return this.listeners.size > 0;
  }

  fire(fact: T): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(fact);
      } catch (error) {
        this.onListenerError(error);
      }
    }
  }

  dispose(): void {
    this.listeners.clear();
  }
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
