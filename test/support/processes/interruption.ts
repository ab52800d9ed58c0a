/** Somebody wants this process to end. */
export interface Interruption {
  readonly signal: AbortSignal;
  readonly happened: Promise<void>;
}

/**
 * From now on SIGINT, SIGTERM and SIGHUP no longer end this process but are announced, as is the death of its parent:
 * npm passes a signal on to its shell only, which dies of it without a word to us.
 */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const happened = new Promise<void>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const interrupt = (): void => controller.abort();
  // `on`, not `once`: a second Ctrl+C must not cut the ending short.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt);
  const parent = process.ppid;
  // Nothing announces a parent's death, but a process gets another parent by it.
  const watch = setInterval(() => {
    if (process.ppid !== parent) interrupt();
  }, 250).unref();
  void happened.then(() => clearInterval(watch));
  return { signal: controller.signal, happened };
}
