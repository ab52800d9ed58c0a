import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { silentLog } from '../../../src/base/log';
import { createKernelHosting, type KernelHosting } from '../../../src/hosting';
import type { ExecutionReply } from '../../../src/kernel/execution';
import type { KernelOutput } from '../../../src/kernel/output';
import type { PooledKernel } from '../../../src/kernel/kernel';
import { repositoryRoot } from '../../support/repository';

export const runnersDir = path.join(repositoryRoot(), 'media', 'runners');

/** A kernel with all that ours offer. */
export type FullKernel = PooledKernel &
  Required<Omit<PooledKernel, 'introspectPrelude' | 'exit'>> & { readonly pid: number };

/** A folder of the test's own, removed at its end. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hf-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A kernel hosting whose host's folder is in `runtimeDir`; it leaves at the test's end. */
export function hostingForTest({ runtimeDir = temporaryFolder(), graceMs = 0 } = {}): {
  hosting: KernelHosting;
  runtimeDir: string;
} {
  const hosting = createKernelHosting({
    hostScript: inject('kernelHostScript'),
    runnersDir,
    runtimeDir,
    workspace: 'test',
    graceMs,
    log: silentLog,
  });
  onTestFinished(() => hosting.leave());
  return { hosting, runtimeDir };
}

export interface StartOptions {
  readonly interpreter?: string;
  readonly cwd?: string;
  readonly env?: Record<string, string | undefined>;
  readonly signal?: AbortSignal;
}

export async function startPython(
  hosting: KernelHosting,
  { interpreter = 'python3', cwd = os.tmpdir(), env = process.env, signal }: StartOptions = {},
): Promise<FullKernel> {
  const kernel = await hosting.startKernel({
    language: 'python',
    interpreter,
    cwd,
    sessionId: 'python:test',
    env: { ...env },
    signal: signal ?? new AbortController().signal,
  });
  return kernel as FullKernel;
}

export interface RunRecord {
  readonly outputs: KernelOutput[];
  /** Text of the streams so far. */
  text(name?: 'stdout' | 'stderr'): string;
  readonly reply: Promise<ExecutionReply>;
  readonly abort: AbortController;
  /** Resolves when that text has come; rejects when the run ends before. */
  saw(text: string): Promise<void>;
}

/** Runs code and remembers what it put out. */
export function run(
  kernel: PooledKernel,
  code: string,
  options: Partial<Parameters<PooledKernel['execute']>[1]> = {},
): RunRecord {
  const outputs: KernelOutput[] = [];
  const watchers = new Set<() => void>();
  const abort = new AbortController();
  const reply = kernel.execute(code, {
    executionId: `run ${++runs}`,
    signal: abort.signal,
    ...options,
    onOutput(output) {
      outputs.push(
        typeof output === 'string' ? { type: 'stream', name: 'stdout', text: output } : output,
      );
      for (const watcher of watchers) watcher();
    },
  });
  const text = (name: 'stdout' | 'stderr' = 'stdout'): string =>
    outputs.map((each) => (each.type === 'stream' && each.name === name ? each.text : '')).join('');
  const saw = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!text().includes(wanted)) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
      void reply.then(() =>
        reject(new Error(`ended without ${wanted}: ${JSON.stringify(outputs)}`)),
      );
    });
  return { outputs, text, reply, abort, saw };
}

let runs = 0;
