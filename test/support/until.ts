import { setTimeout as delay } from 'node:timers/promises';

/**
 * Looks at something that announces nothing (a process table, a port) until it holds. Resolves to whether it did within
 * `limitMs`. Where there is an event, wait for that instead.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  limitMs: number,
  everyMs = 50,
): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    if (await holds()) return true;
    if (Date.now() >= deadline) return false;
    await delay(everyMs);
  }
}
