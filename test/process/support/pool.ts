import os from 'node:os';
import { onTestFinished } from 'vitest';
import type { KernelHosting } from '../../../src/hosting';
import type { PooledKernel } from '../../../src/kernel/kernel';
import { createKernelPool } from '../../../src/pool/pool';
import type {
  ExecutionResult,
  KernelPool,
  KernelPoolOptions,
  SessionSnapshot,
} from '../../../src/pool/types';

export interface PoolForTest {
  readonly pool: KernelPool;
  /** Every kernel that was started, oldest first. */
  readonly kernels: readonly PooledKernel[];
  run(owner: string, code: string, more?: { timeoutMs?: number }): Promise<ExecutionResult>;
  /** The session of the owner. */
  session(owner: string): SessionSnapshot | undefined;
  /** Resolves at the first change after which it holds, or now. */
  when(holds: () => boolean): Promise<void>;
}

export interface PoolForTestOptions extends Partial<KernelPoolOptions> {
  /** Which host the next kernel is started in. */
  hosting(): KernelHosting;
  readonly interpreter?: string;
}

/** A pool over real kernels, in which every owner has a session of its own. It is empty at the test's end. */
export function poolForTest({
  hosting,
  interpreter = 'python3',
  ...options
}: PoolForTestOptions): PoolForTest {
  const kernels: PooledKernel[] = [];
  const cwd = os.tmpdir();
  const pool = createKernelPool({
    startKernel: async ({ sessionId, signal }) => {
      const kernel = await hosting().startKernel({
        language: 'python',
        interpreter,
        cwd,
        sessionId,
        env: process.env,
        signal,
      });
      kernels.push(kernel);
      return kernel;
    },
    ...options,
  });
  onTestFinished(() => pool.disposeAll());
  const sessionIdOf = (owner: string): string => `python:${owner}`;
  return {
    pool,
    kernels,
    run: (owner, code, more) =>
      pool.execute(code, { cwd, sessionId: sessionIdOf(owner), ownerId: owner, ...more }),
    session: (owner) => pool.sessions().find(({ sessionId }) => sessionId === sessionIdOf(owner)),
    when: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!holds()) return;
          changes.dispose();
          resolve();
        };
        const changes = pool.onDidChangeSessions(look);
        look();
      }),
  };
}
