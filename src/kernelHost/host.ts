import type { Server, Socket } from 'node:net';
import { systemClock } from '../base/clock';
import type { Disposable } from '../base/disposable';
import { deferred } from '../base/deferred';
import type { Log } from '../base/log';
import { platformProcesses } from '../platform/processes';
import type { Refusal } from '../protocol/handshake';
import {
  checkRuntimeFolder,
  logPathIn,
  readToken,
  removeRuntimeFolder,
} from '../protocol/runtimeFolder';
import { ClientLink } from './clientLink';
import { Custody } from './custody';
import { listen } from './listener';
import { fileLog } from './logFile';
import { STOP_DEADLINES } from './process/stopPlan';
import { readRunners } from './runners';

const FIRST_CLIENT_WITHIN_MS = 10_000;
const BREAK_DOWN_WITHIN_MS = 2_000;
const HANG_UP_WITHIN_MS = 500;

export interface HostOptions {
  /** Private folder, made by the client, with the token in it. Ours to remove at the end. */
  readonly folder: string;
  readonly runnersDir: string;
}

type State =
  | { readonly kind: 'waiting'; readonly limit: Disposable }
  /** A client has proved itself; `link` from its first message on. */
  | { readonly kind: 'attached'; readonly link: ClientLink | undefined }
  | { readonly kind: 'leaving'; readonly link: ClientLink | undefined };

/** The kernel host: holds kernels for one client, and ends with it. */
export class KernelHost {
  private state: State;
  private readonly ended = deferred<void>();
  private server: Server | undefined;
  private client: Socket | undefined;
  readonly log: Log;

  private constructor(
    private readonly options: HostOptions,
    private custody: Custody | undefined,
  ) {
    this.log = fileLog(logPathIn(options.folder), (level, message) =>
      this.link?.onLog(level, message),
    );
    const limit = systemClock.after(FIRST_CLIENT_WITHIN_MS, () => {
      this.log.warn('Nobody connected.');
      void this.leave();
    });
    this.state = { kind: 'waiting', limit };
  }

  /** Resolves to a host that listens, and its address. */
  static async start(options: HostOptions): Promise<{ host: KernelHost; address: string }> {
    await checkRuntimeFolder(options.folder);
    const host = new KernelHost(options, undefined);
    const [token, runners] = await Promise.all([
      readToken(options.folder),
      readRunners(options.runnersDir, options.folder),
    ]);
    const tools = { processes: platformProcesses(), deadlines: STOP_DEADLINES, log: host.log };
    host.custody = new Custody(runners, tools, {
      onOutput: (...fact) => host.link?.onOutput(...fact),
      onQuestion: (...fact) => host.link?.onQuestion(...fact),
      onQuestionOver: (...fact) => host.link?.onQuestionOver(...fact),
      onStopStep: (...fact) => host.link?.onStopStep(...fact),
      onExit: (...fact) => host.link?.onExit(...fact),
    });
    const { server, address } = await listen(
      options.folder,
      token,
      () => host.admit(),
      (socket) => host.attach(socket),
      host.log,
    );
    host.server = server;
    return { host, address };
  }

  /** Resolves when everything is stopped and nothing of the host is left but its process. */
  get whenEnded(): Promise<void> {
    return this.ended.promise;
  }

  /** Stops everything by the ladder and removes what the host made. */
  async leave(): Promise<void> {
    if (this.state.kind === 'leaving') return this.whenEnded;
    if (this.state.kind === 'waiting') this.state.limit.dispose();
    this.state = { kind: 'leaving', link: this.link };
    this.server?.close();
    const confirmed = (await this.custody?.close()) ?? true;
    if (!confirmed) this.log.error('Some kernels could not be stopped.');
    await removeRuntimeFolder(this.options.folder);
    await this.hangUp();
    this.ended.resolve();
    return undefined;
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

  /** After an error that nobody expected: says so in the log, which stays for the client to read, and kills what it holds. */
  async breakDown(error: unknown): Promise<void> {
    this.log.error('The kernel host broke down.', error);
    const attached = this.state.kind === 'attached';
    this.state = { kind: 'leaving', link: this.link };
    const limit = new Promise((resolve) => setTimeout(resolve, BREAK_DOWN_WITHIN_MS));
    await Promise.race([this.custody?.kill(), limit]);
    if (!attached) await removeRuntimeFolder(this.options.folder);
  }

  private get link(): ClientLink | undefined {
    return this.state.kind === 'waiting' ? undefined : this.state.link;
  }

  /** Claims the one place, in the same step in which the client has proved itself. */
  private admit(): Refusal | undefined {
    if (this.state.kind !== 'waiting') return 'busy';
    this.state.limit.dispose();
    this.state = { kind: 'attached', link: undefined };
    return undefined;
  }

  private attach(socket: Socket): void {
    const { custody } = this;
    if (custody === undefined || this.state.kind !== 'attached') return void socket.destroy();
    this.client = socket;
    const link = new ClientLink(socket, () => void this.leave(), this.log);
    this.state = { kind: 'attached', link };
    link.serve(custody, () => void this.leave());
    // The client may have gone between its proof and now.
    if (socket.destroyed) void this.leave();
  }
}
