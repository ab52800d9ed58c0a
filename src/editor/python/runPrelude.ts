import { basename } from 'node:path';
import { HoldfastError } from '../../base/errors';
import type { PooledKernel } from '../../kernel/kernel';
import type { KernelOutput } from '../../kernel/output';
import { PRELUDE_SETTING, type Prelude, type PreludeFile } from './prelude';

const ID_PREFIX = 'prelude:';

/** Whether an execution is one of a prelude, whose output belongs to the session and to no run of anybody's. */
export function isPreludeRun(executionId: string): boolean {
  return executionId.startsWith(ID_PREFIX);
}

/** What a prelude has to say, for the session's transcript. */
export interface PreludeReport {
  output(output: KernelOutput): void;
  note(text: string): void;
}

/**
 * Runs the files in a kernel that has just started, one after the other. What one does wrong is reported, and the next
 * one runs all the same. Ends early when `signal` aborts. Rejects (`start_failed`) only when the kernel dies of it.
 */
export async function runPrelude(
  kernel: PooledKernel,
  { files, missing }: Prelude,
  signal: AbortSignal,
  report: PreludeReport,
): Promise<void> {
  for (const sentence of missing) report.note(sentence);
  for (const [index, file] of files.entries()) {
    if (signal.aborted) return;
    await runFile(kernel, file, `${ID_PREFIX}${index}`, signal, report);
  }
}

async function runFile(
  kernel: PooledKernel,
  { path, code }: PreludeFile,
  executionId: string,
  signal: AbortSignal,
  report: PreludeReport,
): Promise<void> {
  const name = basename(path);
  let failed = false;
  const { cancelled } = await kernel.execute(code, {
    executionId,
    signal,
    source: { file: path, line: 1 },
    onOutput(output) {
      const piece: KernelOutput =
        typeof output === 'string' ? { type: 'stream', name: 'stdout', text: output } : output;
      if (piece.type === 'error') {
        failed = true;
        report.note(
          `The prelude file ${name} ended with ${piece.name}. The session goes on without what comes after.`,
        );
      }
      // The value of a file's last line is no result of anybody's.
      if (piece.type !== 'result') report.output(piece);
    },
  });
  if (signal.aborted) {
    report.note(
      `The session was stopped while its prelude file ${name} ran: the start took too long, or the session is no longer wanted.`,
    );
  } else if (!kernel.isAlive()) {
    const how = kernel.exit === undefined ? '' : ` ${kernel.exit.summary}`;
    throw new HoldfastError(
      'start_failed',
      `The kernel ended while its prelude file ${path} ran.${how} Correct the file, or take it out of the setting "${PRELUDE_SETTING}".`,
    );
  } else if (cancelled && !failed) {
    report.note(`The prelude file ${name} was interrupted.`);
  }
}
