import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { silentLog } from '../../src/base/log';
import { createTranscript, type Transcript } from '../../src/editor/panel/transcript';
import { asOutput } from '../../src/kernel/output';
import { createKernelHosting, type KernelHosting } from '../../src/hosting';
import { createKernelPool } from '../../src/pool/pool';
import type { ExecutionResult, KernelPool } from '../../src/pool/types';

const root = path.resolve(__dirname, '../..');

/** Everything between a command and the panel's model, as the composition root puts it together. */
export interface Stack {
  readonly hosting: KernelHosting;
  readonly pool: KernelPool;
  readonly transcript: Transcript;
  /** From the command to the panel's model. */
  run(code: string, sessionId: string): Promise<ExecutionResult>;
  dispose(): Promise<void>;
}

export function createStack(python: string): Stack {
  const runtimeDir = mkdtempSync(path.join(tmpdir(), 'hf-'));
  const hosting = createKernelHosting({
    hostScript: path.join(root, 'dist/kernelHost.js'),
    runnersDir: path.join(root, 'media/runners'),
    log: silentLog,
    runtimeDir,
    workspace: 'bench',
    graceMs: 0,
  });
  const pool = createKernelPool({
    capacity: 64,
    startKernel: ({ cwd, sessionId, interpreter, signal }) =>
      hosting.startKernel({
        language: 'python',
        interpreter: interpreter ?? python,
        cwd,
        sessionId,
        env: process.env,
        signal,
      }),
  });
  const transcript = createTranscript();
  let runs = 0;
  return {
    hosting,
    pool,
    transcript,
    async run(code, sessionId) {
      const executionId = `bench-${++runs}`;
      transcript.begin({
        executionId,
        sessionKey: sessionId,
        sessionLabel: sessionId,
        code,
        language: 'python',
        owner: 'bench',
        queuedAt: Date.now(),
      });
      const result = await pool.execute(code, {
        cwd: homedir(),
        sessionId,
        ownerId: 'bench',
        executionId,
        onStart: () => transcript.started(executionId, Date.now()),
        onOutput: (output) => transcript.output(executionId, asOutput(output)),
      });
      transcript.finished(executionId, { at: Date.now(), result });
      return result;
    },
    async dispose() {
      await pool.disposeOwner('bench');
      await hosting.leave();
      rmSync(runtimeDir, { recursive: true, force: true });
    },
  };
}
