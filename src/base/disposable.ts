/** Something that can be let go of. `dispose` is synchronous, idempotent and only detaches: it never stops a process. */
export interface Disposable {
  dispose(): void;
}

export function toDisposable(dispose: () => void): Disposable {
  let done = false;
  return {
    dispose() {
      if (done) return;
      done = true;
      dispose();
    },
  };
}

/**
 * Owns disposables and lets go of them in reverse order. A resource enters its store on the line that creates it;
 * adding to a disposed store disposes at once, so a late arrival cannot leak.
 */
export class DisposableStore implements Disposable {
  private readonly items = new Set<Disposable>();
  private disposed = false;

  get isDisposed(): boolean {
    return this.disposed;
  }

  add<T extends Disposable>(item: T): T {
    if (this.disposed) item.dispose();
    else this.items.add(item);
    return item;
  }

  /** Disposes everything, also when an item throws; the errors come as one AggregateError. */
  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    const errors: unknown[] = [];
    for (const item of [...this.items].reverse()) {
      try {
        item.dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    this.items.clear();
    if (errors.length > 0)
      throw new AggregateError(errors, 'Some resources could not be released.');
  }
}
