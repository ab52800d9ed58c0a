import { readFile } from 'node:fs/promises';
import { systemClock } from '../base/clock';
import { HoldfastError, messageOf } from '../base/errors';
import type { Log } from '../base/log';
import type { PooledKernel } from '../kernel/kernel';
import type { Language } from '../kernel/language';
import { platformProcesses } from '../platform/processes';
import * as m from '../protocol/messages';
import { logPathIn, removeRuntimeFolder } from '../protocol/runtimeFolder';
import { HostConnection } from './hostConnection';
import { launchHost, type LaunchOptions } from './launch';
import { RemoteKernel } from './remoteKernel';

export interface KernelHostingOptions extends LaunchOptions {
  readonly log: Log;
}

export interface KernelSpec {
  readonly language: Language;
  readonly interpreter: string;
  readonly cwd: string;
  readonly sessionId: string;
  /** The kernel's whole environment; names that steer the editor are left out in the host. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts the start: it rejects when nothing of it is left. */
  readonly signal: AbortSignal;
}

export interface KernelHosting {
  /** Starts the kernel host if there is none, then a kernel in it. Rejects with HoldfastError. */
  startKernel(spec: KernelSpec): Promise<PooledKernel>;
  readonly hostPid: number | undefined;
  /** Says goodbye: the host stops every kernel and ends. Resolves when it has, within 1 s at the latest. */
  leave(): Promise<void>;
}

const LEAVE_WITHIN_MS = 1_000;

/** Nothing starts before the first kernel. Nothing of it keeps this process alive. */
export function createKernelHosting(options: KernelHostingOptions): KernelHosting {
  return new Hosting(options);
}

class Hosting implements KernelHosting {
  private readonly processes = platformProcesses();
  private connecting: Promise<HostConnection> | undefined;
  private connection: HostConnection | undefined;
  private kernels = 0;
  private left = false;

  constructor(private readonly options: KernelHostingOptions) {}

  get hostPid(): number | undefined {
    return this.connection?.host.pid;
  }

  async startKernel(spec: KernelSpec): Promise<PooledKernel> {
    const { language, interpreter, cwd, env, signal } = spec;
    const connection = await this.connect();
    if (signal.aborted) throw new HoldfastError('closed', 'The start was called off.');
    this.kernels += 1;
    const kernel = `${spec.sessionId}#${this.kernels}`;
    const remote = new RemoteKernel(kernel, connection, this.processes, this.options.log);
    try {
      const facts = await connection.ask(
        m.startKernel,
        { kernel, language, interpreter, cwd, env: defined(env) },
        { signal },
      );
      remote.started(facts);
    } catch (error) {
      remote.discard();
      throw error;
    }
    return remote;
  }

  async leave(): Promise<void> {
    this.left = true;
    const connection = this.connection ?? (await this.connecting?.catch(() => undefined));
    if (connection === undefined) return;
    connection.ask(m.goodbye, {}).catch((error: unknown) => {
      this.options.log.debug(`Goodbye: ${messageOf(error)}`);
    });
    await Promise.race([
      connection.whenLost,
      new Promise<void>((resolve) => systemClock.after(LEAVE_WITHIN_MS, resolve)),
    ]);
    connection.close();
  }

  /** One host for all, also for starts that come while it starts. */
  private connect(): Promise<HostConnection> {
    if (this.left) return Promise.reject(new HoldfastError('closed', 'Holdfast is closing.'));
    if (this.connection?.isOpen === true) return Promise.resolve(this.connection);
    this.connecting ??= this.launch().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  private async launch(): Promise<HostConnection> {
    const { log } = this.options;
    const host = await launchHost(this.options);
    const connection = new HostConnection(host, log);
    this.connection = connection;
    log.info(`Kernel host ${host.pid} is ready.`);
    void connection.whenLost.then(async () => {
      if (this.connection === connection) this.connection = undefined;
      if (!this.left) log.warn(`Kernel host ${host.pid} is gone. ${await lastWords(host.folder)}`);
      // A host that was killed could not do it.
      await removeRuntimeFolder(host.folder);
    });
    return connection;
  }
}

/** The end of its log, which it leaves behind when it breaks down. */
async function lastWords(folder: string): Promise<string> {
  const text = await readFile(logPathIn(folder), 'utf8').catch(() => '');
  return text === '' ? '' : `The end of its log:\n${text.slice(-4_000)}`;
}

function defined(env: KernelSpec['env']): Record<string, string> {
  const entries = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}
