import type * as v from 'valibot';
import {
  CancellationTokenSource,
  type CancellationToken,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import { deferred } from '../base/deferred';
import { DisposableStore, toDisposable, type Disposable } from '../base/disposable';
import { HoldfastError, messageOf } from '../base/errors';
import { Heartbeat } from '../base/heartbeat';
import type { Log } from '../base/log';
import { systemClock } from '../base/clock';
import { KERNEL_LIMITS, type KernelLimits } from '../kernel/limits';
import { connectOver, type Connected } from '../protocol/connection';
import { fromResponseError, hostLost } from '../protocol/failure';
import * as m from '../protocol/messages';
import { parse, type Schema } from '../protocol/parse';
import { onNotification, onRequest, type HearingTrouble } from '../protocol/rpc';
import { ANSWER_WITHIN_MS, answerLimits } from './answerLimits';
import type { ReachedHost } from './launch';

/** What a kernel's side of the connection hears. */
export interface KernelChannel {
  onOutput(items: v.InferOutput<typeof m.output.params>['items']): void;
  onQuestion(question: v.InferOutput<typeof m.question.params>): void;
  onQuestionOver(question: number): void;
  onStopStep(progress: v.InferOutput<typeof m.stopStep.params>['progress']): void;
  /** The kernel does not answer the host since then, or (null) it does again. */
  onSilence(since: number | null): void;
  /** The same of the host itself: `HostConnection.silentSince` has changed. */
  onHostSilence(): void;
  onExit(exit: v.InferOutput<typeof m.exited.params>['exit']): void;
  /** The connection has closed. `left`: by our own leave, after which the host goes on or ends by itself. */
  onClosed(why: 'left' | 'lost'): void;
}

interface AskOptions {
  /**
   * Limit of the answer in ms, from the call; passed, the request rejects with `host_lost`. Default 5,000; `Infinity` is
   * for what lasts as long as the user's code does.
   */
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
}

/** `leaving`: facts are still heard, and nothing is asked or told any more. */
type State = 'open' | 'leaving' | 'left' | 'lost';

/** The connection to one kernel host, from its greeting to its close. */
export class HostConnection {
  private readonly connection: MessageConnection;
  private readonly lastWords: Connected['lastWords'];
  private readonly channels = new Map<string, KernelChannel>();
  private readonly closed = deferred<'left' | 'lost'>();
  private readonly heartbeat: Heartbeat;
  private limits: KernelLimits = KERNEL_LIMITS;
  private state: State = 'open';

  constructor(
    readonly host: ReachedHost,
    private readonly log: Log,
  ) {
    const { socket } = host;
    ({ connection: this.connection, lastWords: this.lastWords } = connectOver(socket));
    this.connection.onError(([error]) => log.warn(`Kernel host connection: ${error.message}`));
    socket.once('close', () => this.onClose());
    this.heartbeat = new Heartbeat({
      clock: systemClock,
      ask: () => this.ping(),
      onChange: (since) => this.silenceChanged(since),
    });
    this.listen();
    // It may have closed before we listened.
    if (socket.closed) this.onClose();
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  /** It is over by our own leave: what becomes of the kernels is the host's to see to. */
  get isLeft(): boolean {
    return this.state === 'leaving' || this.state === 'left';
  }

  /** The host has not answered since then, in ms since the epoch. That is not yet "gone". */
  get silentSince(): number | undefined {
    return this.isOpen ? this.heartbeat.silentSince : undefined;
  }

  /** How long answers that wait for something may take. */
  get answerLimits(): ReturnType<typeof answerLimits> {
    return answerLimits(this.limits);
  }

  /** What the host goes by from now on. */
  setLimits(limits: KernelLimits): void {
    this.limits = limits;
    this.tell(m.setLimits, { ...limits, stop: { ...limits.stop } });
  }

  /** Resolves when the connection has closed: `lost` is what "the host is gone" means. */
  get whenClosed(): Promise<'left' | 'lost'> {
    return this.closed.promise;
  }

  /** Facts about this kernel go to `channel` until disposed. */
  join(kernel: string, channel: KernelChannel): Disposable {
    this.channels.set(kernel, channel);
    return toDisposable(() => this.channels.delete(kernel));
  }

  /** Rejects with HoldfastError: the host's own, or `host_lost`. */
  async ask<P extends Schema, R extends Schema>(
    message: m.RequestMessage<P, R>,
    params: v.InferInput<P>,
    options: AskOptions = {},
  ): Promise<v.InferOutput<R>> {
    if (!this.isOpen) throw hostLost();
    return this.request(message, params, options);
  }

  private async request<P extends Schema, R extends Schema>(
    message: m.RequestMessage<P, R>,
    params: v.InferInput<P>,
    { withinMs = ANSWER_WITHIN_MS, signal }: AskOptions,
  ): Promise<v.InferOutput<R>> {
    const { method } = message.type;
    const limit = new Limit(withinMs, signal);
    try {
      // Closing the connection rejects what is awaited over it.
      const { token } = limit;
      // An absent token must not be passed: it would travel as a second parameter.
      const answer =
        token === undefined
          ? this.connection.sendRequest<unknown>(method, params)
          : this.connection.sendRequest<unknown>(method, params, token);
      const late = limit.late?.then(() => {
        // Should the host wake up, it need not do what nobody waits for.
        limit.cancel();
        throw silence(method);
      });
      const result = await (late === undefined ? answer : Promise.race([answer, late]));
      return parse(message.result, result, `answer to ${method}`);
    } catch (error) {
      throw fromResponseError(error);
    } finally {
      limit.dispose();
    }
  }

  tell<P extends Schema>(message: m.NotificationMessage<P>, params: v.InferInput<P>): void {
    if (!this.isOpen) return;
    this.connection
      .sendNotification(message.type.method, params)
      .catch((error: unknown) => this.log.debug(`Not told: ${messageOf(error)}`));
  }

  /**
   * Says goodbye and hears the rest: the host waits for another client, and then this closes the connection, or it stops
   * everything and closes it. Resolves when it has closed, within `withinMs`.
   */
  async leave(withinMs: number): Promise<void> {
    if (this.state !== 'open') return;
    this.state = 'leaving';
    const limit = new DisposableStore();
    const late = new Promise<void>((resolve) => limit.add(systemClock.after(withinMs, resolve)));
    const goodbye = this.request(m.goodbye, {}, { withinMs }).then(
      ({ waits }) => waits && this.close(),
      (error: unknown) => this.log.debug(`Goodbye: ${messageOf(error)}`),
    );
    await Promise.race([Promise.all([goodbye, this.whenClosed]), late]);
    limit.dispose();
    this.close();
  }

  close(): void {
    this.host.socket.destroy();
  }

  private ping(): void {
    // An answer that comes late is an answer.
    this.ask(m.pingHost, {}, { withinMs: Infinity }).then(
      () => this.heartbeat.heard(),
      (error: unknown) => this.log.debug(`Ping: ${messageOf(error)}`),
    );
  }

  private silenceChanged(since: number | undefined): void {
    const { pid } = this.host;
    if (since === undefined) this.log.info(`Kernel host ${pid} responds again.`);
    else this.log.warn(`Kernel host ${pid} does not respond.`);
    for (const channel of [...this.channels.values()]) channel.onHostSilence();
  }

  private onClose(): void {
    const why = this.state === 'open' ? 'lost' : 'left';
    this.state = why;
    this.heartbeat.dispose();
    void this.lastWords().then(() => {
      this.connection.dispose();
      this.closed.resolve(why);
      for (const channel of [...this.channels.values()]) channel.onClosed(why);
    });
  }

  private listen(): void {
    const { connection } = this;
    const trouble: HearingTrouble = {
      onInvalid: (error) => {
        // Half-understood facts would make wrong states: better none, with a cause.
        this.log.error('The kernel host sent what nobody understands.', error);
        this.close();
      },
      onFailure: (error) => this.log.error('What takes the kernel host’s news failed.', error),
    };
    const hear = <P extends Schema>(
      message: m.NotificationMessage<P>,
      listener: (params: v.InferOutput<P>) => void,
    ): void =>
      onNotification(
        connection,
        message,
        (params) => {
          this.heartbeat.heard();
          listener(params);
        },
        trouble,
      );

    hear(m.output, ({ kernel, seq, items }) => {
      try {
        this.channels.get(kernel)?.onOutput(items);
      } finally {
        // Taken is taken, well or badly: without this the kernel would have to wait for ever.
        this.tell(m.acknowledgeOutput, { kernel, seq });
      }
    });
    hear(m.question, (question) => this.channels.get(question.kernel)?.onQuestion(question));
    hear(m.questionOver, ({ kernel, question }) =>
      this.channels.get(kernel)?.onQuestionOver(question),
    );
    hear(m.stopStep, ({ kernel, progress }) => this.channels.get(kernel)?.onStopStep(progress));
    hear(m.silence, ({ kernel, since }) => this.channels.get(kernel)?.onSilence(since));
    hear(m.exited, ({ kernel, exit }) => this.channels.get(kernel)?.onExit(exit));
    hear(m.hostLog, ({ level, message }) => this.log[level](`Kernel host: ${message}`));
    onRequest(connection, m.pingClient, () => ({}));
    connection.listen();
  }
}

/** A request's deadline and its cancellation. */
class Limit implements Disposable {
  private readonly store = new DisposableStore();
  readonly token: CancellationToken | undefined;
  /** Resolves when the time has passed. */
  readonly late: Promise<void> | undefined;
  /** Calls the request off, where it can be. */
  readonly cancel: () => void = () => undefined;

  constructor(withinMs: number, signal: AbortSignal | undefined) {
    if (withinMs !== Infinity) {
      this.late = new Promise((resolve) => {
        this.store.add(systemClock.after(withinMs, resolve));
      });
    }
    if (signal === undefined) return;
    const source = this.store.add(new CancellationTokenSource());
    this.token = source.token;
    const cancel = (): void => source.cancel();
    this.cancel = cancel;
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    this.store.add(toDisposable(() => signal.removeEventListener('abort', cancel)));
  }

  dispose(): void {
    this.store.dispose();
  }
}

function silence(method: string): HoldfastError {
  return new HoldfastError('host_lost', `The kernel host does not answer (${method}).`);
}
