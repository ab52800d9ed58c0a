import type { PooledKernel } from '../kernel/kernel';

/** How a kernel ended, in a sentence for people. */
export function describeDeath(kernel: PooledKernel): string {
  return kernel.exit?.summary ?? kernel.whyAway ?? 'The kernel died.';
}

/** The same, of a kernel that is not alive any more; else undefined. */
export function deathOf(kernel: PooledKernel): string | undefined {
  return kernel.isAlive() ? undefined : describeDeath(kernel);
}
