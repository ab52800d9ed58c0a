import type { Socket } from 'node:net';
import type * as v from 'valibot';
import {
  createMessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import { HoldfastError, messageOf } from '../base/errors';
import type { Log } from '../base/log';
import * as m from '../protocol/messages';
import type { Schema } from '../protocol/parse';
import { onNotification, onRequest } from '../protocol/rpc';
import type { Custody, CustodyListener, HeldKernel } from './custody';
import type { LogLevel } from './logFile';

/** What the attached client is told, over its connection. Once that is gone, nobody is told. */
export class ClientLink implements CustodyListener {
  private readonly connection: MessageConnection;
  private gone = false;

  constructor(
    socket: Socket,
    onGone: () => void,
    private readonly log: Log,
  ) {
    this.connection = createMessageConnection(
      new SocketMessageReader(socket),
      new SocketMessageWriter(socket),
    );
    this.connection.onError(([error]) => log.warn(`Connection: ${error.message}`));
    socket.once('close', () => {
      this.gone = true;
      this.connection.dispose();
      onGone();
    });
  }

  /** Serves the client from now on. `onGoodbye` resolves when everything is stopped. */
  serve(custody: Custody, onGoodbye: () => void): void {
    const { connection } = this;
    const held = (kernel: string): HeldKernel =>
      custody.find(kernel) ?? notFound('This kernel is gone.');
    const onInvalid = (error: unknown): void => this.log.warn(messageOf(error));

    onRequest(connection, m.startKernel, async (params, signal) => {
      const { kernel: kernelId, ...spec } = params;
      const { kernel, startTime, description } = await custody.start({ kernelId, ...spec }, signal);
      return { pid: kernel.pid, description, ...(startTime !== undefined && { startTime }) };
    });
    onRequest(connection, m.execute, async ({ kernel, execution, ...request }) => {
      const target = held(kernel);
      const reply = await target.kernel.execute({ executionId: execution, ...request });
      target.outbox.flush();
      return reply;
    });
    onRequest(connection, m.interrupt, ({ kernel, execution }) =>
      held(kernel).kernel.interrupt(execution),
    );
    onRequest(connection, m.shutdownKernel, ({ kernel, timeoutMs }) =>
      held(kernel).kernel.stop(timeoutMs),
    );
    onRequest(connection, m.killKernel, ({ kernel }) => held(kernel).kernel.kill());
    onRequest(connection, m.measureMemory, async ({ kernel }) => ({
      bytes: (await held(kernel).kernel.memory()) ?? null,
    }));
    onRequest(connection, m.goodbye, () => {
      onGoodbye();
      return {};
    });
    // A notification about a kernel that has gone meanwhile has nothing left to do.
    onNotification(
      connection,
      m.abortExecution,
      ({ kernel, execution }) => custody.find(kernel)?.kernel.abort(execution),
      onInvalid,
    );
    onNotification(
      connection,
      m.answerInput,
      ({ kernel, question, text }) => custody.find(kernel)?.kernel.answer(question, text),
      onInvalid,
    );
    onNotification(
      connection,
      m.acknowledgeOutput,
      ({ kernel, seq }) => custody.find(kernel)?.outbox.acknowledge(seq),
      onInvalid,
    );
    connection.listen();
  }

  onOutput: CustodyListener['onOutput'] = (kernel, { seq, items }) =>
    this.tell(m.output, { kernel, seq, items: [...items] });

  onQuestion: CustodyListener['onQuestion'] = (kernel, { id, executionId, prompt, password }) =>
    this.tell(m.question, { kernel, execution: executionId, question: id, prompt, password });

  onQuestionOver: CustodyListener['onQuestionOver'] = (kernel, question) =>
    this.tell(m.questionOver, { kernel, question });

  onStopStep: CustodyListener['onStopStep'] = (kernel, progress) =>
    this.tell(m.stopStep, { kernel, progress });

  onExit: CustodyListener['onExit'] = (kernel, exit) => this.tell(m.exited, { kernel, exit });

  onLog(level: LogLevel, message: string): void {
    this.tell(m.hostLog, { level, message });
  }

  private tell<P extends Schema>(message: m.NotificationMessage<P>, params: v.InferInput<P>): void {
    if (this.gone) return;
    this.connection
      .sendNotification(message.type.method, params)
      .catch((error: unknown) => this.log.debug(`Not told: ${messageOf(error)}`));
  }
}

function notFound(message: string): never {
  throw new HoldfastError('kernel_not_found', message);
}
