import { systemClock } from '../../base/clock';
import { deferred } from '../../base/deferred';
import { HoldfastError } from '../../base/errors';
import { spawnLeader } from '../process/spawn';
import { lastLines } from './exitText';
import { EmbeddedKernel, type KernelListener, type KernelTools, type ReadyFrame } from './kernel';
import type { RunnerLaunch } from './python';

interface EmbeddedStart {
  readonly launch: RunnerLaunch;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** From the spawn to the runner's first word, in ms. */
  readonly limitMs: number;
}

export interface StartedKernel {
  readonly kernel: EmbeddedKernel;
  readonly startTime: string | undefined;
  /** For people: "Python 3.11.7 (/usr/bin/python3)". */
  readonly description: string;
}

/**
 * Starts a runner and waits for its first word. Rejects with HoldfastError (`interpreter_not_found`,
 * `interpreter_failed`, `start_timeout`, `start_failed`, or `closed` when `signal` aborted); then nothing of it is left,
 * or `onLeft` has been given what could not be ended.
 */
export async function startEmbeddedKernel(
  start: EmbeddedStart,
  listener: KernelListener,
  tools: KernelTools,
  signal: AbortSignal,
  onLeft: (kernel: EmbeddedKernel) => void,
): Promise<StartedKernel> {
  throwIfAborted(signal);
  const { launch, cwd, env, limitMs } = start;
  const leader = await spawnLeader({ ...launch, cwd, env, addedEnv: launch.env }, tools.ledger);
  const ready = deferred<ReadyFrame>();
  const kernel = new EmbeddedKernel(leader, listener, (frame) => ready.resolve(frame), tools);

  const onAbort = (): void => ready.reject(aborted());
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const limit = systemClock.after(limitMs, () =>
    ready.reject(
      new HoldfastError(
        'start_timeout',
        `${launch.command} did not become ready within ${limitMs / 1000} s. ` +
          withStderr(kernel.stderr, 'Try again, or choose another interpreter.'),
      ),
    ),
  );
  void kernel.exited.then(({ code, signal: by }) =>
    ready.reject(exitedAtStart(launch.command, by ?? `code ${code ?? '?'}`, kernel)),
  );
  try {
    const [frame, startTime] = await Promise.all([ready.promise, kernel.startTime]);
    throwIfAborted(signal);
    return { kernel, startTime, description: describe(frame) };
  } catch (error) {
    const { confirmed } = await kernel.kill();
    if (!confirmed) onLeft(kernel);
    throw error;
  } finally {
    limit.dispose();
    signal.removeEventListener('abort', onAbort);
  }
}

function exitedAtStart(command: string, how: string, kernel: EmbeddedKernel): HoldfastError {
  const why = kernel.failureText ?? `It ended with ${how}.`;
  return new HoldfastError(
    'interpreter_failed',
    `${command} could not run as a kernel. ${why} ` +
      withStderr(kernel.stderr, 'Choose another interpreter.'),
  );
}

function withStderr(stderr: string, advice: string): string {
  const tail = lastLines(stderr);
  return tail === '' ? advice : `${advice} It wrote:\n${tail}`;
}

function describe({ language, version, executable }: ReadyFrame): string {
  const name = language.charAt(0).toUpperCase() + language.slice(1);
  return `${name} ${version} (${executable})`;
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw aborted();
}

function aborted(): HoldfastError {
  return new HoldfastError('closed', 'The start was called off.');
}
