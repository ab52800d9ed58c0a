import { vi } from 'vitest';
import { createKernelPool } from '../../src/pool/pool';
import type { ExecutionResult, KernelPool, KernelPoolOptions } from '../../src/pool/types';
import { FakeKernels, type ExecutePlan, type FakeKernel, type ShutdownPlan } from './fakeKernel';

/** A promise that a test looks at without waiting for it. */
export interface Watched<T> {
  readonly promise: Promise<T>;
  state: 'pending' | 'resolved' | 'rejected';
}

export function watch<T>(promise: Promise<T>): Watched<T> {
  const watched: Watched<T> = { promise, state: 'pending' };
  promise.then(
    () => (watched.state = 'resolved'),
    () => (watched.state = 'rejected'),
  );
  return watched;
}

/** Lets everything settle that needs no time. */
export async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

export interface Harness {
  readonly pool: KernelPool;
  readonly kernels: FakeKernels;
  /** Runs code for an owner on a session. */
  run(
    owner: string | undefined,
    session: string | undefined,
    more?: RunOptions,
  ): Promise<ExecutionResult>;
}

export interface RunOptions {
  readonly code?: string;
  readonly cwd?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly reset?: boolean;
  readonly mode?: 'session' | 'per-call';
}

export interface HarnessOptions extends Omit<KernelPoolOptions, 'startKernel'> {
  readonly shutdown?: ShutdownPlan;
  readonly execute?: ExecutePlan;
  readonly prepare?: (kernel: FakeKernel, index: number) => void | Promise<void>;
}

export function harness(options: HarnessOptions = {}): Harness {
  const { shutdown, execute, prepare, ...poolOptions } = options;
  const kernels = new FakeKernels();
  kernels.prepare = (kernel, index) => {
    if (shutdown !== undefined) kernel.shutdownPlan = shutdown;
    if (execute !== undefined) kernel.executePlan = execute;
    return prepare?.(kernel, index);
  };
  const pool = createKernelPool({ startKernel: kernels.start, ...poolOptions });
  return {
    pool,
    kernels,
    run: (ownerId, sessionId, { code = 'x', cwd = '/w', ...more } = {}) =>
      pool.execute(code, {
        cwd,
        ...(ownerId === undefined ? {} : { ownerId }),
        ...(sessionId === undefined ? {} : { sessionId }),
        ...more,
      }),
  };
}
