/** What is waited for, or undefined as soon as the signal aborts. Rejects as it does. */
export async function unlessAborted<T>(
  awaited: T | PromiseLike<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  if (signal.aborted) {
    // Nobody waits for it any more, however it ends.
    void Promise.resolve(awaited).catch(() => undefined);
    return undefined;
  }
  let stop!: () => void;
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([awaited, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
