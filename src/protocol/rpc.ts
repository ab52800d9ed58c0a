import type * as v from 'valibot';
import type { CancellationToken, MessageConnection } from 'vscode-jsonrpc/node';
import { toResponseError } from './failure';
import type { NotificationMessage, RequestMessage } from './messages';
import { parse, type Schema } from './parse';

/** Answers a request; what it throws travels by `toResponseError`. */
export function onRequest<P extends Schema, R extends Schema>(
  connection: MessageConnection,
  message: RequestMessage<P, R>,
  answer: (
    params: v.InferOutput<P>,
    signal: AbortSignal,
  ) => Promise<v.InferInput<R>> | v.InferInput<R>,
): void {
  const { method } = message.type;
  connection.onRequest(method, async (params: unknown, token: CancellationToken) => {
    try {
      return await answer(parse(message.params, params, method), signalOf(token));
    } catch (error) {
      return toResponseError(error);
    }
  });
}

/** What can go wrong with a notification: what the other side sent, or what was done about it here. */
export interface HearingTrouble {
  onInvalid(error: unknown): void;
  onFailure(error: unknown): void;
}

/** Hears a notification. */
export function onNotification<P extends Schema>(
  connection: MessageConnection,
  message: NotificationMessage<P>,
  hear: (params: v.InferOutput<P>) => void,
  { onInvalid, onFailure }: HearingTrouble,
): void {
  connection.onNotification(message.type, (params: unknown) => {
    let heard: v.InferOutput<P>;
    try {
      heard = parse(message.params, params, message.type.method);
    } catch (error) {
      return onInvalid(error);
    }
    try {
      hear(heard);
    } catch (error) {
      onFailure(error);
    }
  });
}

function signalOf(token: CancellationToken): AbortSignal {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  else token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}
