import { expect } from 'vitest';
import { until } from '../until';
import type { WorkbenchServer } from './server';
import { openWindow, type WorkbenchWindow } from './window';

/**
 * Closes a window, waits until nothing of it is left, and opens its folder anew. The server needs
 * `--reconnection-grace-time=1`, so that it forgets a window at once.
 */
export async function restart(
  server: WorkbenchServer,
  window: WorkbenchWindow,
): Promise<WorkbenchWindow> {
  await closeForGood(window);
  expect(await until(() => server.kernels().length === 0, 45_000)).toBe(true);
  return openWindow(server, window.folder);
}

/** Resolves when its extension host is gone, as told by that; what came of it may stay for its grace period. */
export async function closeForGood(window: WorkbenchWindow): Promise<void> {
  const host = window.host();
  await window.close();
  await host.gone;
}
