/** How an embedded runner's process is started. The rest of the environment and the stdio are the spawner's. */
export interface RunnerLaunch {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the session's environment. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Launch of the Python runner. `-u` and UTF-8 mode cover the interpreter itself; the variable makes Python programs
 * that the user's code starts print UTF-8 too, which on Windows they otherwise do not.
 */
export function pythonLaunch(interpreter: string, runnerFile: string): RunnerLaunch {
  return {
    command: interpreter,
    args: ['-u', '-X', 'utf8', runnerFile],
    env: { PYTHONIOENCODING: 'utf-8' },
  };
}
