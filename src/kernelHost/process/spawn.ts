import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { codeOf, HoldfastError, messageOf } from '../../base/errors';
import type { Ledger } from '../../ledger/ledger';
import type { FamilyRoot } from '../../platform/processes';
import { freshNonce, kernelEnvironment } from './environment';

interface LeaderLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Added over `env`. */
  readonly addedEnv: Readonly<Record<string, string>>;
}

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A kernel's process: the leader of a session and a process group of its own on POSIX. */
export interface Leader extends Required<Pick<FamilyRoot, 'pid' | 'nonce'>> {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Descriptor 3 of the child. */
  readonly control: Writable;
  /** Descriptor 4 of the child. */
  readonly frames: Readable;
  /** How it ended, once it has. */
  exit(): ExitStatus | undefined;
  /** Resolves at its `exit` event: not at `close`, as grandchildren may hold its pipes for ever. */
  readonly exited: Promise<ExitStatus>;
}

/**
 * Resolves when the process exists; the ledger has its nonce from before. Rejects with HoldfastError:
 * `interpreter_not_found`, `interpreter_failed`, `start_failed`.
 */
export async function spawnLeader(launch: LeaderLaunch, ledger: Ledger): Promise<Leader> {
  // A missing working directory reads as a missing program: told apart before.
  await checkFolder(launch.cwd);
  const nonce = freshNonce();
  enterIntent(ledger, nonce);
  try {
    return await spawnMarked(launch, nonce);
  } catch (error) {
    ledger.gone(nonce);
    throw error;
  }
}

// Without an entry nobody could find the process after an accident: it is not started.
function enterIntent(ledger: Ledger, nonce: string): void {
  try {
    ledger.intent(nonce);
  } catch (error) {
    throw new HoldfastError(
      'start_failed',
      `The kernel host cannot write into its folder: ${messageOf(error)}. Make room there, or restart the window.`,
      { cause: error },
    );
  }
}

async function spawnMarked(launch: LeaderLaunch, nonce: string): Promise<Leader> {
  let child;
  try {
    child = spawn(launch.command, launch.args, {
      cwd: launch.cwd,
      env: kernelEnvironment(launch.env, launch.addedEnv, nonce),
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    throw startError(launch.command, error);
  }
  let status: ExitStatus | undefined;
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once('exit', (code, signal) => resolve((status = { code, signal })));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(startError(launch.command, error)));
  });
  const [, stdout, stderr, control, frames] = child.stdio;
  return {
    pid: child.pid ?? missing(),
    nonce,
    stdout: (stdout ?? missing()) as Readable,
    stderr: (stderr ?? missing()) as Readable,
    control: (control ?? missing()) as Writable,
    frames: (frames ?? missing()) as Readable,
    exit: () => status,
    exited,
  };
}

async function checkFolder(folder: string): Promise<void> {
  try {
    if ((await stat(folder)).isDirectory()) return;
  } catch (error) {
    throw new HoldfastError(
      'start_failed',
      `The working directory ${folder} cannot be used: ${messageOf(error)}. Choose another one.`,
      { cause: error },
    );
  }
  throw new HoldfastError('start_failed', `The working directory ${folder} is not a folder.`);
}

function startError(command: string, error: unknown): HoldfastError {
  const options = { cause: error };
  switch (codeOf(error)) {
    case 'ENOENT':
      return new HoldfastError(
        'interpreter_not_found',
        `There is no interpreter ${command}. Choose one that exists, or install it.`,
        options,
      );
    case 'EACCES':
      return new HoldfastError(
        'interpreter_failed',
        `${command} may not be executed. Choose an interpreter that may.`,
        options,
      );
    default:
      return new HoldfastError(
        'start_failed',
        `${command} could not be started: ${messageOf(error)}`,
        options,
      );
  }
}

function missing(): never {
  throw new HoldfastError('start_failed', 'The kernel’s process has no pipes.');
}
