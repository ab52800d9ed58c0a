import { setImmediate as nextTurn } from 'node:timers/promises';

export interface LongestTurn {
  /** CPU milliseconds of this process in one turn of its event loop. */
  readonly cpuMs: number;
  /** Wall milliseconds of one turn, which include what other processes took from it. */
  readonly wallMs: number;
}

/**
 * Watches every turn of the event loop while `work` goes on. CPU is that of the whole process (garbage collection
 * on other threads included), so the figure is an upper bound of what the loop's own slice cost.
 */
export async function longestTurn<T>(
  work: Promise<T>,
): Promise<{ value: T; longest: LongestTurn }> {
  let going = true;
  let cpuMs = 0;
  let wallMs = 0;
  const watch = async (): Promise<void> => {
    let wall = performance.now();
    let cpu = process.cpuUsage();
    while (going) {
      await nextTurn();
      const used = process.cpuUsage(cpu);
      cpuMs = Math.max(cpuMs, (used.user + used.system) / 1000);
      wallMs = Math.max(wallMs, performance.now() - wall);
      wall = performance.now();
      cpu = process.cpuUsage();
    }
  };
  const watching = watch();
  try {
    const value = await work;
    return { value, longest: { cpuMs, wallMs } };
  } finally {
    going = false;
    await watching;
  }
}
