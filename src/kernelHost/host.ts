import path from 'node:path';
import type { Server, Socket } from 'node:net';
import { systemClock } from '../base/clock';
import type { Disposable } from '../base/disposable';
import { deferred } from '../base/deferred';
import type { Log } from '../base/log';
import { KERNEL_LIMITS, type KernelLimits } from '../kernel/limits';
import { Ledger } from '../ledger/ledger';
import { reapDeadHosts } from '../ledger/reap';
import { platformProcesses, type Processes } from '../platform/processes';
import type { Refusal } from '../protocol/handshake';
import { readLaunchFile, type HostFile, type HostIdentity } from '../protocol/hostFile';
import { PROTOCOL_VERSION } from '../protocol/messages';
import {
  checkRuntimeFolder,
  logPathIn,
  readToken,
  removeRuntimeFolder,
} from '../protocol/runtimeFolder';
import { Announcer } from './announcer';
import { ClientLink } from './clientLink';
import { Custody } from './custody';
import { ownIdentity } from './identity';
import { listen } from './listener';
import { fileLog } from './logFile';
import { readRunners, type Runners } from './runners';

const FIRST_CLIENT_WITHIN_MS = 10_000;
const BREAK_DOWN_WITHIN_MS = 2_000;
const HANG_UP_WITHIN_MS = 500;

interface HostOptions {
  /** Private folder, made by the client, with the token in it. Ours to remove at the end. */
  readonly folder: string;
  readonly runnersDir: string;
}

interface HostParts {
  readonly folder: string;
  readonly identity: HostIdentity;
  readonly processes: Processes;
  readonly runners: Runners;
  readonly workspace: string;
  readonly graceMs: number;
}

type State =
  /** Nobody has come yet. */
  | { readonly kind: 'waiting'; readonly limit: Disposable }
  /** A client has proved itself; `link` from its first message on. */
  | { readonly kind: 'attached'; readonly link: ClientLink | undefined }
  /** The client is gone, and another may take its place until then (ms since the epoch). */
  | { readonly kind: 'orphaned'; readonly until: number; readonly limit: Disposable }
  | { readonly kind: 'leaving'; readonly link: ClientLink | undefined };

/** The kernel host: holds kernels for one client at a time, and ends when it has had none for the grace period. */
export class KernelHost {
  private state: State;
  private graceMs: number;
  private limits: KernelLimits = KERNEL_LIMITS;
  private readonly kept = new Map<string, unknown>();
  private readonly ended = deferred<void>();
  private readonly ledger: Ledger;
  private readonly custody: Custody;
  private readonly announcer: Announcer;
  private breakingDown: Promise<void> | undefined;
  private server: Server | undefined;
  private address = '';
  private client: Socket | undefined;
  readonly log: Log;

  private constructor(private readonly parts: HostParts) {
    const { folder, identity, processes, runners } = parts;
    this.graceMs = parts.graceMs;
    this.log = fileLog(logPathIn(folder), (level, message) => this.link?.onLog(level, message));
    this.announcer = new Announcer(folder, this.log);
    this.ledger = new Ledger(folder, identity);
    const { ledger, log } = this;
    const tools = { processes, limits: () => this.limits, ledger, log };
    this.custody = new Custody(runners, tools, {
      onOutput: (...fact) => this.link?.onOutput(...fact),
      onQuestion: (...fact) => this.link?.onQuestion(...fact),
      onQuestionOver: (...fact) => this.link?.onQuestionOver(...fact),
      onStopStep: (...fact) => this.link?.onStopStep(...fact),
      onSilence: (...fact) => this.link?.onSilence(...fact),
      onExit: (...fact) => this.link?.onExit(...fact),
      onCount: () => void this.announce(),
    });
    const { limit } = this.leaveAfter(FIRST_CLIENT_WITHIN_MS, 'Nobody connected.');
    this.state = { kind: 'waiting', limit };
  }

  /** Resolves to a host that listens, and its address. */
  static async start({ folder, runnersDir }: HostOptions): Promise<{
    host: KernelHost;
    address: string;
  }> {
    await checkRuntimeFolder(folder);
    const processes = platformProcesses();
    const [token, launch, runners, identity] = await Promise.all([
      readToken(folder),
      readLaunchFile(folder),
      readRunners(runnersDir, folder),
      ownIdentity(processes),
    ]);
    const host = new KernelHost({ folder, identity, processes, runners, ...launch });
    return { host, address: await host.listen(token) };
  }

  /** Resolves when everything is stopped and nothing of the host is left but its process. */
  get whenEnded(): Promise<void> {
    return this.ended.promise;
  }

  /** Ends what dead hosts have left running; failures are for the log. */
  async reap(): Promise<void> {
    const { processes, folder } = this.parts;
    try {
      await reapDeadHosts({ processes, log: this.log }, path.dirname(folder));
    } catch (error) {
      this.log.error('What dead kernel hosts left could not be looked through.', error);
    }
  }

  /** Stops everything by the ladder and removes what the host made. */
  async leave(): Promise<void> {
    if (this.state.kind === 'leaving') return this.whenEnded;
    this.endLimit();
    this.state = { kind: 'leaving', link: this.link };
    this.server?.close();
    void this.announce();
    const confirmed = await this.custody.close();
    if (!confirmed) this.log.error('Some kernels could not be stopped.');
    // What is not gone for certain stays in the ledger, for the next host to see to.
    if (this.ledger.isClear) await this.removeFolder();
    await this.hangUp();
    this.ended.resolve();
    return undefined;
  }

  /** After an error that nobody expected: says so in the log, which stays for the client to read, and kills what it holds. */
  breakDown(error: unknown): Promise<void> {
    this.log.error('The kernel host broke down.', error);
    // An error on the way down does not cut the way short.
    this.breakingDown ??= this.killAll();
    return this.breakingDown;
  }

  private async killAll(): Promise<void> {
    const attached = this.state.kind === 'attached';
    this.endLimit();
    this.state = { kind: 'leaving', link: this.link };
    const limit = new Promise((resolve) => setTimeout(resolve, BREAK_DOWN_WITHIN_MS));
    await Promise.race([this.custody.kill(), limit]);
    if (!attached && this.ledger.isClear) await this.removeFolder();
  }

  private async listen(token: string): Promise<string> {
    const { server, address } = await listen(
      this.parts.folder,
      token,
      () => this.admit(),
      (socket) => this.attach(socket),
      this.log,
    );
    this.server = server;
    this.address = address;
    await this.announce();
    return address;
  }

  private get link(): ClientLink | undefined {
    return 'link' in this.state ? this.state.link : undefined;
  }

  /** Claims the one place, in the same step in which the client has proved itself. */
  private admit(): Refusal | undefined {
    if (this.state.kind !== 'waiting' && this.state.kind !== 'orphaned') return 'busy';
    this.endLimit();
    this.state = { kind: 'attached', link: undefined };
    void this.announce();
    return undefined;
  }

  private attach(socket: Socket): void {
    if (this.state.kind !== 'attached') return void socket.destroy();
    this.client = socket;
    const link = new ClientLink(socket, () => this.clientGone(link), this.log);
    this.state = { kind: 'attached', link };
    link.serve({
      custody: this.custody,
      kept: this.kept,
      goodbye: () => this.clientGone(link),
      setGrace: (graceMs) => (this.graceMs = graceMs),
      setLimits: (limits) => (this.limits = limits),
    });
    // It may have gone between its proof and now.
    if (socket.destroyed) this.clientGone(link);
  }

  /** Its socket has closed, or it has said goodbye. Answers whether the host waits for another one. */
  private clientGone(link: ClientLink): boolean {
    if (this.state.kind !== 'attached' || this.state.link !== link) return false;
    const { graceMs } = this;
    if (graceMs === 0) {
      void this.leave();
      return false;
    }
    this.client = undefined;
    this.custody.park();
    this.state = {
      kind: 'orphaned',
      ...this.leaveAfter(graceMs, 'The client is gone, and no other has come.'),
    };
    this.log.info(`The client is gone: another one has ${graceMs} ms to come.`);
    void this.announce();
    return true;
  }

  private leaveAfter(delayMs: number, why: string): { until: number; limit: Disposable } {
    const limit = systemClock.after(delayMs, () => {
      this.log.warn(why);
      void this.leave();
    });
    return { until: Date.now() + delayMs, limit };
  }

  private endLimit(): void {
    if ('limit' in this.state) this.state.limit.dispose();
  }

  /** Closes the connection when all that was said has been sent, or nobody takes it. */
  private async hangUp(): Promise<void> {
    const { client } = this;
    if (client === undefined || client.destroyed) return;
    await new Promise<void>((resolve) => {
      client.once('close', () => resolve());
      client.end();
      systemClock.after(HANG_UP_WITHIN_MS, resolve);
    });
    client.destroy();
  }

  private announce(): Promise<void> {
    const { identity: host, workspace } = this.parts;
    const { address, state } = this;
    // Before it listens there is nothing to be found.
    if (address === '') return Promise.resolve();
    const kernels = this.custody.all.length;
    return this.announcer.announce({
      version: PROTOCOL_VERSION,
      host,
      workspace,
      address,
      client: clientOf(state),
      kernels,
    });
  }

  /** What cannot be removed stays for the next host to see to: no reason not to end. */
  private async removeFolder(): Promise<void> {
    try {
      await this.announcer.stop();
      await removeRuntimeFolder(this.parts.folder);
    } catch (error) {
      this.log.error('The folder could not be removed.', error);
    }
  }
}

function clientOf(state: State): HostFile['client'] {
  switch (state.kind) {
    case 'orphaned':
      return { state: 'gone', until: state.until };
    case 'waiting':
    case 'attached':
    case 'leaving':
      return { state: state.kind };
  }
}
