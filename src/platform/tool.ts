import { execFile } from 'node:child_process';
import { codeOf } from '../base/errors';

const TOOL_TIMEOUT_MS = 5_000;
const LONGEST_ANSWER = 16 * 1024 * 1024;

/** `failed`: it could not be run, was ended, or took longer than 5 s. That says nothing about what it was asked. */
type ToolAnswer =
  | {
      readonly kind: 'ended';
      readonly code: number;
      readonly stdout: string;
      readonly stderr: string;
    }
  | { readonly kind: 'failed'; readonly why: string };

/** What a system tool prints, in the C locale and with times in UTC: local ones jump twice a year. Never rejects. */
export function askTool(
  command: string,
  args: readonly string[],
  timeoutMs = TOOL_TIMEOUT_MS,
): Promise<ToolAnswer> {
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      {
        timeout: timeoutMs,
        // One that hangs may not heed less.
        killSignal: 'SIGKILL',
        maxBuffer: LONGEST_ANSWER,
        windowsHide: true,
        env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      },
      (error, stdout, stderr) => resolve(answerOf(command, error, stdout, stderr)),
    );
  });
}

function answerOf(
  command: string,
  error: ExecError | null,
  stdout: string,
  stderr: string,
): ToolAnswer {
  if (error === null) return { kind: 'ended', code: 0, stdout, stderr };
  // An exit code is a number here; a string says why it could not be run or read.
  if (typeof error.code === 'number' && (error.signal ?? null) === null) {
    return { kind: 'ended', code: error.code, stdout, stderr };
  }
  const how = codeOf(error) ?? error.signal ?? error.message;
  return { kind: 'failed', why: `${command} failed (${how}).` };
}

type ExecError = Error & {
  readonly code?: unknown;
  readonly signal?: NodeJS.Signals | null | undefined;
};
