import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import os from 'node:os';
import { createInterface } from 'node:readline';
import { HoldfastError, messageOf } from '../base/errors';
import { withoutEditorNames } from '../kernel/environment';
import { NONCE_VARIABLE } from '../platform/processes';
import { freshToken } from '../protocol/handshake';
import { writeLaunchFile } from '../protocol/hostFile';
import { parseReadyLine } from '../protocol/readyLine';
import {
  logPathIn,
  makeRuntimeFolder,
  removeRuntimeFolder,
  writeToken,
} from '../protocol/runtimeFolder';
import { connectTo } from './connect';

export interface LaunchOptions {
  /** The host's bundle. */
  readonly hostScript: string;
  readonly runnersDir: string;
  /** Where its private folder goes; default XDG_RUNTIME_DIR, else the temporary folder. */
  readonly runtimeDir?: string | undefined;
  /** Names what the window shows: a host is taken up again only by a window of the same. */
  readonly workspace: string;
  /** How long the host keeps kernels without a client, in ms. */
  readonly graceMs: number;
}

/** A kernel host whose one place is ours. */
export interface ReachedHost {
  readonly pid: number;
  /** Greeted; the protocol's messages come next. Does not keep this process alive. */
  readonly socket: Socket;
  readonly folder: string;
}

const READY_WITHIN_MS = 10_000;
const KILLED_WITHIN_MS = 2_000;

/**
 * Starts a kernel host that outlives this process, and connects to it. Rejects with HoldfastError `host_unavailable`;
 * then nothing of it is left. What it returns does not keep this process alive.
 */
export async function launchHost(options: LaunchOptions): Promise<ReachedHost> {
  const folder = await makeRuntimeFolder(options.runtimeDir);
  let child: ChildProcess | undefined;
  try {
    const token = freshToken();
    const { workspace, graceMs } = options;
    await writeToken(folder, token);
    await writeLaunchFile(folder, { workspace, graceMs });
    const signal = AbortSignal.timeout(READY_WITHIN_MS);
    child = await spawnHost(options, folder);
    const address = await addressOf(child, signal);
    const socket = await connectTo(address, token, signal);
    const { pid } = child;
    if (pid === undefined) throw new Error('It has no process id.');
    return { pid, socket, folder };
  } catch (error) {
    if (child !== undefined) await killHost(child);
    const wrote = await readFile(logPathIn(folder), 'utf8').catch(() => '');
    await removeRuntimeFolder(folder);
    throw new HoldfastError(
      'host_unavailable',
      `The kernel host did not start: ${messageOf(error)}${wrote === '' ? '' : ` It wrote: ${wrote.slice(-2_000)}`}`,
      { cause: error },
    );
  }
}

/** Resolves when it can write no more, or after 2 s: one that waits for a disk may not go in time. */
async function killHost(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(KILLED_WITHIN_MS) });
  child.kill('SIGKILL');
  await exited.catch(() => undefined);
}

async function spawnHost(options: LaunchOptions, folder: string): Promise<ChildProcess> {
  // What it writes before its own log is open (a missing file, a syntax error) goes where that log will be.
  const log = await open(logPathIn(folder), 'a', 0o600);
  try {
    const child = spawn(process.execPath, [options.hostScript, folder, options.runnersDir], {
      cwd: os.homedir(),
      env: hostEnvironment(process.env),
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'pipe', log.fd],
    });
    child.unref();
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return child;
  } finally {
    await log.close();
  }
}

/** Plain Node out of the editor's own program, without what steers the editor's processes. */
function hostEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = withoutEditorNames(env);
  // Of an editor that was started out of a kernel: the sweep after that kernel must not find this host.
  delete own[NONCE_VARIABLE];
  return { ...own, ELECTRON_RUN_AS_NODE: '1' };
}

/** Reads the one line on its stdout, which both sides close then. */
async function addressOf(child: ChildProcess, signal: AbortSignal): Promise<string> {
  const { stdout } = child;
  if (stdout === null) throw new Error('It has no stdout.');
  const lines = createInterface({ input: stdout, signal });
  try {
    for await (const line of lines) return parseReadyLine(line).address;
  } finally {
    lines.close();
    stdout.destroy();
  }
  throw new Error(
    signal.aborted
      ? `It was not ready within ${READY_WITHIN_MS / 1000} s.`
      : 'It ended before it was ready.',
  );
}
