const LONGEST_MS = 10;

/** Lets others have the thread during a long loop: await `turn` in it. Aborted, it rejects with the signal's reason. */
export class Pace {
  private since = performance.now();

  constructor(private readonly signal?: AbortSignal) {}

  /** It had the thread for long enough: `turn` is worth its while. */
  get isDue(): boolean {
    return performance.now() - this.since >= LONGEST_MS;
  }

  async turn(): Promise<void> {
    this.signal?.throwIfAborted();
    if (!this.isDue) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.since = performance.now();
    this.signal?.throwIfAborted();
  }
}

/** Calls `work` for each item, so many at a time. Rejects with the first error, once nothing is under way any more. */
export async function forEachOf<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done && !failure; next = iterator.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failure) throw failure.error;
}
