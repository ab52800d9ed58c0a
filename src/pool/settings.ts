import type { KernelPoolOptions } from './types';

/** What becomes of an owner's queued runs when one of its runs fails or is interrupted. */
export type QueuePolicy = 'continue' | 'cancel';

/** Figures in ms unless named otherwise. */
export interface PoolSettings {
  readonly capacity: number;
  readonly ownerCleanupMs: number;
  readonly retryIntervalMs: number;
  readonly startTimeoutMs: number;
  readonly maxOutputBytes: number;
  /** 0: never. */
  readonly idleExpiryMs: number;
  /** Per kernel; 0: no cap. */
  readonly memoryCapMb: number;
  readonly queueOnError: QueuePolicy;
  readonly queueOnInterrupt: QueuePolicy;
}

export const defaultSettings: PoolSettings = {
  capacity: 4,
  ownerCleanupMs: 2_000,
  retryIntervalMs: 30_000,
  startTimeoutMs: 60_000,
  maxOutputBytes: 50_000,
  idleExpiryMs: 30 * 60_000,
  memoryCapMb: 1_024,
  queueOnError: 'continue',
  queueOnInterrupt: 'continue',
};

/** A figure that makes no sense gives way to the one before. */
export function settingsFrom(
  options: Partial<PoolSettings> | KernelPoolOptions,
  before: PoolSettings = defaultSettings,
): PoolSettings {
  const atLeast = (least: number, value: number | undefined, otherwise: number): number =>
    value === undefined || !Number.isFinite(value) ? otherwise : Math.max(least, value);
  return {
    capacity: Math.floor(atLeast(1, options.capacity, before.capacity)),
    ownerCleanupMs: atLeast(0, options.ownerCleanupMs, before.ownerCleanupMs),
    retryIntervalMs: atLeast(1, options.retryIntervalMs, before.retryIntervalMs),
    startTimeoutMs: atLeast(1, options.startTimeoutMs, before.startTimeoutMs),
    maxOutputBytes: Math.floor(atLeast(0, options.maxOutputBytes, before.maxOutputBytes)),
    idleExpiryMs: atLeast(0, options.idleExpiryMs, before.idleExpiryMs),
    memoryCapMb: atLeast(0, options.memoryCapMb, before.memoryCapMb),
    queueOnError: options.queueOnError ?? before.queueOnError,
    queueOnInterrupt: options.queueOnInterrupt ?? before.queueOnInterrupt,
  };
}
