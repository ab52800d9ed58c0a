import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, messageOf } from '../base/errors';
import type { Log } from '../base/log';
import type { PooledKernel } from '../kernel/kernel';
import type { WithheldNames } from '../kernel/environment';
import type { Language } from '../kernel/language';
import { KERNEL_LIMITS, type KernelLimits } from '../kernel/limits';
import { reapFolder } from '../ledger/reap';
import { platformProcesses } from '../platform/processes';
import * as m from '../protocol/messages';
import { logPathIn } from '../protocol/runtimeFolder';
import { takeUpKernels, type Adoption, type Place } from './adoption';
import { claimHost, type FoundHost } from './discover';
import { HostConnection } from './hostConnection';
import { launchHost, type LaunchOptions, type ReachedHost } from './launch';
import { RemoteKernel } from './remoteKernel';

export { discoverHosts, hostToTakeUp, type FoundHost } from './discover';
export type { Adoption, Place } from './adoption';

interface KernelHostingOptions extends LaunchOptions {
  readonly log: Log;
}

interface KernelSpec {
  readonly language: Language;
  readonly interpreter: string;
  readonly cwd: string;
  readonly sessionId: string;
  /** The kernel's whole environment; names that steer the editor are left out in the host. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names that `env` was restricted by: told of the kernel from then on, also to the window that comes after this one. */
  readonly withheld?: WithheldNames;
  /** What it belongs to, for the window that comes after this one. Absent: it is stopped then. */
  readonly place?: Place;
  /** Names where its runs and their output are kept for that window. Default: the session id. */
  readonly history?: string;
  /** Aborts the start: it rejects when nothing of it is left. */
  readonly signal: AbortSignal;
}

export interface KernelHosting {
  /** Starts the kernel host if there is none, then a kernel in it. Rejects with HoldfastError. */
  startKernel(spec: KernelSpec): Promise<PooledKernel>;
  /**
   * Takes the place of a window that is gone, before any kernel was started here. Rejects with HoldfastError when
   * somebody else was faster.
   */
  adopt(host: FoundHost): Promise<Adoption>;
  /** Has the host keep a value for the window that comes after this one; undefined: no longer. Plain data. */
  keep(key: string, value: unknown): void;
  /** How long the host keeps kernels without a window, in ms. */
  setGrace(graceMs: number): void;
  /** What starts and stops that begin from now on go by. Default `KERNEL_LIMITS`. */
  setLimits(limits: KernelLimits): void;
  readonly hostPid: number | undefined;
  /**
   * Says goodbye: the host keeps its kernels for the grace period; with none it stops them and ends, which this waits
   * for. Resolves within 1 s.
   */
  leave(): Promise<void>;
}

const LEAVE_WITHIN_MS = 1_000;
const REAPED_WITHIN_MS = 5_000;

/** Nothing starts before the first kernel. Nothing of it keeps this process alive. */
export function createKernelHosting(options: KernelHostingOptions): KernelHosting {
  return new Hosting(options);
}

class Hosting implements KernelHosting {
  private readonly processes = platformProcesses();
  private readonly kept = new Map<string, unknown>();
  private graceMs: number;
  private limits: KernelLimits = KERNEL_LIMITS;
  private connecting: Promise<HostConnection> | undefined;
  private connection: HostConnection | undefined;
  // Names are never used twice in a host, whose earlier windows counted too.
  private readonly prefix = Date.now().toString(36);
  private kernels = 0;
  private left = false;

  constructor(private readonly options: KernelHostingOptions) {
    this.graceMs = options.graceMs;
  }

  get hostPid(): number | undefined {
    return this.connection?.host.pid;
  }

  async startKernel(spec: KernelSpec): Promise<PooledKernel> {
    const { language, interpreter, cwd, env, withheld, place } = spec;
    const { history = spec.sessionId, signal } = spec;
    const connection = await this.connect();
    if (signal.aborted) throw new HoldfastError('closed', 'The start was called off.');
    this.kernels += 1;
    const kernel = `${spec.sessionId}#${this.prefix}-${this.kernels}`;
    const remote = new RemoteKernel(kernel, connection, this.processes, this.options.log);
    try {
      const facts = await connection.ask(
        m.startKernel,
        {
          kernel,
          language,
          interpreter,
          cwd,
          env: defined(env),
          history,
          ...(place !== undefined && { place: { ...place } }),
          ...(withheld !== undefined && {
            withheld: { sensitive: [...withheld.sensitive], unlisted: [...withheld.unlisted] },
          }),
        },
        { signal, withinMs: connection.answerLimits.start },
      );
      remote.started(facts);
    } catch (error) {
      remote.discard();
      throw error;
    }
    return remote;
  }

  async adopt(found: FoundHost): Promise<Adoption> {
    if (this.connection !== undefined || this.connecting !== undefined) {
      throw new HoldfastError('closed', 'This window has a kernel host already.');
    }
    const claiming = claimHost(found).then((host) => this.attach(host));
    // Starts that come meanwhile go to the same host, or to a new one where this fails.
    this.connecting = claiming
      .catch(() => this.launch())
      .finally(() => (this.connecting = undefined));
    this.connecting.catch(() => undefined);
    const connection = await claiming;
    let adoption: Adoption;
    try {
      adoption = await takeUpKernels(connection, this.processes, this.options.log);
    } catch (error) {
      // Without this window its kernels end with the grace period, unless another takes them up.
      await connection.leave(LEAVE_WITHIN_MS);
      throw error;
    }
    // What this window has given meanwhile is newer.
    for (const [key, value] of adoption.kept) if (!this.kept.has(key)) this.kept.set(key, value);
    this.tellKept(connection);
    return adoption;
  }

  keep(key: string, value: unknown): void {
    if (value === undefined) this.kept.delete(key);
    else this.kept.set(key, value);
    this.connection?.tell(m.keep, { key, value });
  }

  setGrace(graceMs: number): void {
    this.graceMs = graceMs;
    this.connection?.tell(m.configure, { graceMs });
  }

  setLimits(limits: KernelLimits): void {
    this.limits = limits;
    this.connection?.setLimits(limits);
  }

  async leave(): Promise<void> {
    this.left = true;
    const giveUpAt = Date.now() + LEAVE_WITHIN_MS;
    const leaving = async (): Promise<void> => {
      const connection = this.connection ?? (await this.connecting?.catch(() => undefined));
      // One that comes later is left all the same, as long as this process lives.
      await connection?.leave(Math.max(0, giveUpAt - Date.now()));
    };
    const late = new AbortController();
    await Promise.race([
      leaving().finally(() => late.abort()),
      delay(LEAVE_WITHIN_MS, undefined, { ref: false, signal: late.signal }).catch(() => undefined),
    ]);
  }

  /** One host for all, also for starts that come while it starts. */
  private connect(): Promise<HostConnection> {
    if (this.left) return Promise.reject(new HoldfastError('closed', 'Holdfast is closing.'));
    if (this.connection?.isOpen === true) return Promise.resolve(this.connection);
    this.connecting ??= this.launch().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  private async launch(): Promise<HostConnection> {
    const { graceMs } = this;
    const connection = this.attach(await launchHost({ ...this.options, graceMs }));
    this.tellKept(connection);
    return connection;
  }

  private tellKept(connection: HostConnection): void {
    connection.tell(m.configure, { graceMs: this.graceMs });
    for (const [key, value] of this.kept) connection.tell(m.keep, { key, value });
  }

  private attach(host: ReachedHost): HostConnection {
    const { log } = this.options;
    const connection = new HostConnection(host, log);
    connection.setLimits(this.limits);
    this.connection = connection;
    log.info(`Kernel host ${host.pid} is ready.`);
    void connection.whenClosed.then((why) => this.closed(connection, why));
    return connection;
  }

  private async closed(connection: HostConnection, why: 'left' | 'lost'): Promise<void> {
    const { log } = this.options;
    const { pid, folder } = connection.host;
    if (this.connection === connection) this.connection = undefined;
    if (why === 'left') return;
    log.warn(`Kernel host ${pid} is gone. ${await lastWords(folder)}`);
    try {
      // A host that was killed could not do it.
      await this.reapSoon(folder);
    } catch (error) {
      log.error(`What kernel host ${pid} left could not be cleared: ${messageOf(error)}`);
    }
  }

  /** Its socket closes a moment before a killed process is gone, and what it left needs a moment too. */
  private async reapSoon(folder: string): Promise<void> {
    const tools = { processes: this.processes, log: this.options.log };
    const giveUpAt = Date.now() + REAPED_WITHIN_MS;
    for (let pauseMs = 5; !(await reapFolder(folder, tools)); pauseMs *= 2) {
      // What is left then, the next start sees to.
      if (Date.now() + pauseMs > giveUpAt) return;
      await delay(pauseMs, undefined, { ref: false });
    }
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
