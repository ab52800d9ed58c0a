import type { Browser, Page } from 'playwright-core';

export interface TaskTimes {
  /** CPU time of the page's longest task on its main thread, ms. */
  readonly longestMs: number;
  /** CPU time of all of them, ms. */
  readonly totalMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * Measures what the page's main thread does meanwhile, in CPU time: on a busy machine the time by the clock says more
 * about the machine.
 */
export async function measureTasks(
  browser: Browser,
  page: Page,
  work: () => Promise<void>,
): Promise<TaskTimes> {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await work();
  const trace = await browser.stopTracing();
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const mainThreads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const times = traceEvents
    .filter(({ name, pid, tid }) => /RunTask$/.test(name) && mainThreads.has(`${pid}/${tid}`))
    .map(({ tdur = 0 }) => tdur / 1_000);
  return {
    longestMs: times.reduce((longest, ms) => Math.max(longest, ms), 0),
    totalMs: times.reduce((sum, ms) => sum + ms, 0),
  };
}
