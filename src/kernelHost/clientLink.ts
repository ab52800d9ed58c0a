import type { Socket } from 'node:net';
import type * as v from 'valibot';
import type { MessageConnection } from 'vscode-jsonrpc/node';
import { systemClock } from '../base/clock';
import { HoldfastError, messageOf } from '../base/errors';
import { Heartbeat } from '../base/heartbeat';
import type { Log } from '../base/log';
import type { WithheldNames } from '../kernel/environment';
import type { KernelLimits } from '../kernel/limits';
import { connectOver } from '../protocol/connection';
import * as m from '../protocol/messages';
import type { Schema } from '../protocol/parse';
import { onNotification, onRequest, type HearingTrouble } from '../protocol/rpc';
import type { Custody, CustodyListener } from './custody';
import type { EmbeddedKernel, Question } from './embedded/kernel';
import type { StartedKernel } from './embedded/start';
import type { HeldKernel } from './heldKernel';
import type { LogLevel } from './logFile';

/** What a client may ask of the host beside its kernels. */
interface HostServices {
  readonly custody: Custody;
  /** What clients gave to be kept. */
  readonly kept: Map<string, unknown>;
  /** Answers whether the host waits for another client. */
  goodbye(): boolean;
  setGrace(graceMs: number): void;
  setLimits(limits: KernelLimits): void;
}

/** What the attached client is told, over its connection. Once that is gone, nobody is told. */
export class ClientLink implements Omit<CustodyListener, 'onCount'> {
  private readonly connection: MessageConnection;
  private gone = false;
  private heartbeat: Heartbeat | undefined;

  constructor(
    socket: Socket,
    onGone: () => void,
    private readonly log: Log,
  ) {
    const { connection, lastWords } = connectOver(socket);
    this.connection = connection;
    this.connection.onError(([error]) => log.warn(`Connection: ${error.message}`));
    socket.once('close', () => {
      this.gone = true;
      this.heartbeat?.dispose();
      // What the client gave to be kept ahead of its end is for the next one.
      void lastWords().then(() => {
        connection.dispose();
        onGone();
      });
    });
  }

  /** Serves the client from now on. */
  serve({ custody, kept, goodbye, setGrace, setLimits }: HostServices): void {
    const { connection } = this;
    const held = (name: string): HeldKernel =>
      custody.find(name) ?? notFound('This kernel is gone.');
    const started = (name: string): EmbeddedKernel =>
      held(name).kernel ?? notFound('This kernel starts.');
    const trouble: HearingTrouble = {
      onInvalid: (error) => this.log.warn(messageOf(error)),
      onFailure: (error) => this.log.error('What the client said could not be done.', error),
    };

    onRequest(connection, m.startKernel, async (params, signal) => {
      const { kernel: kernelId, ...spec } = params;
      return factsOf(await custody.start({ kernelId, ...spec }, signal), spec.withheld);
    });
    onRequest(connection, m.execute, ({ kernel, execution, ...request }) =>
      held(kernel).execute({ executionId: execution, ...request }),
    );
    onRequest(connection, m.awaitExecution, ({ kernel, execution }) =>
      held(kernel).reply(execution),
    );
    onRequest(connection, m.interrupt, ({ kernel, execution }) =>
      started(kernel).interrupt(execution),
    );
    onRequest(connection, m.shutdownKernel, ({ kernel, timeoutMs }) =>
      started(kernel).stop(timeoutMs),
    );
    onRequest(connection, m.killKernel, ({ kernel }) => started(kernel).kill());
    onRequest(connection, m.measureMemory, async ({ kernel }) => ({
      bytes: (await started(kernel).memory()) ?? null,
    }));
    onRequest(connection, m.readStderr, ({ kernel }) => ({
      text: custody.stderrOf(kernel) ?? notFound('This kernel is gone.'),
    }));
    onRequest(connection, m.survey, () => ({
      kept: Object.fromEntries(kept),
      kernels: custody.all.map(({ kernel, spec: { kernelId, place, history } }) => ({
        kernel: kernelId,
        history,
        started: kernel !== undefined,
        ...(place !== undefined && { place }),
      })),
      histories: [...custody.historyNames],
    }));
    onRequest(connection, m.openKernel, async ({ kernel, after }) => {
      const one = held(kernel);
      const { started: opened, entries } = await one.open(after);
      return {
        facts: factsOf(opened, one.spec.withheld),
        entries: [...entries],
        silentSince: opened.kernel.silentSince ?? null,
        question: questionOf(opened.kernel.openQuestion),
      };
    });
    onRequest(connection, m.readHistory, ({ history, after }) => ({
      entries: custody.readHistory(history, after),
    }));
    onRequest(connection, m.pingHost, () => ({}));
    onRequest(connection, m.goodbye, () => ({ waits: goodbye() }));
    onNotification(
      connection,
      m.keep,
      ({ key, value }) => (value === undefined ? kept.delete(key) : kept.set(key, value)),
      trouble,
    );
    onNotification(connection, m.configure, ({ graceMs }) => setGrace(graceMs), trouble);
    onNotification(connection, m.setLimits, setLimits, trouble);
    // A notification about a kernel that has gone meanwhile has nothing left to do.
    onNotification(
      connection,
      m.abortExecution,
      ({ kernel, execution }) => custody.find(kernel)?.kernel?.abort(execution),
      trouble,
    );
    onNotification(
      connection,
      m.answerInput,
      ({ kernel, question, text }) => custody.find(kernel)?.kernel?.answer(question, text),
      trouble,
    );
    onNotification(
      connection,
      m.acknowledgeOutput,
      ({ kernel, seq }) => custody.find(kernel)?.outbox.acknowledge(seq),
      trouble,
    );
    connection.listen();
    this.watch();
  }

  /** A client is gone when its socket closes; one that is merely silent keeps its place. */
  private watch(): void {
    if (this.gone) return;
    const heartbeat = new Heartbeat({
      clock: systemClock,
      ask: () =>
        void this.connection.sendRequest(m.pingClient.type.method, {}).then(
          () => heartbeat.heard(),
          () => undefined, // The connection is gone, which its close tells.
        ),
      onChange: (since) =>
        this.log.info(`The window ${since === undefined ? 'responds again' : 'does not respond'}.`),
    });
    this.heartbeat = heartbeat;
  }

  onOutput: CustodyListener['onOutput'] = (kernel, { seq, items }) =>
    this.tell(m.output, { kernel, seq, items: [...items] });

  onQuestion: CustodyListener['onQuestion'] = (kernel, question) =>
    this.tell(m.question, { kernel, ...questionFrom(question) });

  onQuestionOver: CustodyListener['onQuestionOver'] = (kernel, question) =>
    this.tell(m.questionOver, { kernel, question });

  onStopStep: CustodyListener['onStopStep'] = (kernel, progress) =>
    this.tell(m.stopStep, { kernel, progress });

  onSilence: CustodyListener['onSilence'] = (kernel, since) =>
    this.tell(m.silence, { kernel, since: since ?? null });

  onExit: CustodyListener['onExit'] = (kernel, exit) => this.tell(m.exited, { kernel, exit });

  onLog(level: LogLevel, message: string): void {
    this.tell(m.hostLog, { level, message });
  }

  private tell<P extends Schema>(message: m.NotificationMessage<P>, params: v.InferInput<P>): void {
    if (this.gone) return;
    // What fails is not logged: the log is told too, and would fail in turn. The close comes, and is logged.
    this.connection.sendNotification(message.type.method, params).catch(() => undefined);
  }
}

function factsOf(
  { kernel, startTime, description }: StartedKernel,
  withheld: WithheldNames | undefined,
): v.InferInput<typeof m.startKernel.result> {
  const { pid, nonce } = kernel;
  return {
    pid,
    nonce,
    description,
    ...(startTime !== undefined && { startTime }),
    ...(withheld !== undefined && { withheld: writable(withheld) }),
  };
}

function writable({ sensitive, unlisted }: WithheldNames): {
  sensitive: string[];
  unlisted: string[];
} {
  return { sensitive: [...sensitive], unlisted: [...unlisted] };
}

interface QuestionMessage {
  execution: string;
  question: number;
  prompt: string;
  password: boolean;
}

function questionFrom({ id, executionId, prompt, password }: Question): QuestionMessage {
  return { execution: executionId, question: id, prompt, password };
}

function questionOf(question: Question | undefined): QuestionMessage | null {
  return question === undefined ? null : questionFrom(question);
}

function notFound(message: string): never {
  throw new HoldfastError('kernel_not_found', message);
}
