import { execFile } from 'node:child_process';

const TOOL_TIMEOUT_MS = 5_000;
const LONGEST_ANSWER = 16 * 1024 * 1024;

/** What a system tool prints, in the C locale; undefined when it fails or takes longer than 5 s. */
export function askTool(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      {
        timeout: TOOL_TIMEOUT_MS,
        maxBuffer: LONGEST_ANSWER,
        windowsHide: true,
        env: { ...process.env, LC_ALL: 'C' },
      },
      (error, stdout) => resolve(error === null ? stdout : undefined),
    );
  });
}
