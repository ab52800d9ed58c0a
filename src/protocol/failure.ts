import * as v from 'valibot';
import { ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import { codeOf, HoldfastError, isErrorCode, messageOf } from '../base/errors';

const failure = v.object({ code: v.string(), cause: v.exactOptional(v.string()) });

/** How a failure travels: its code, and its cause's system code (EMFILE decides what a pool does next). */
export function toResponseError(error: unknown): ResponseError<unknown> {
  const cause = error instanceof Error ? codeOf(error.cause) : undefined;
  const code = error instanceof HoldfastError ? error.code : 'protocol';
  const data: v.InferInput<typeof failure> = { code, ...(cause !== undefined && { cause }) };
  return new ResponseError(ErrorCodes.InternalError, messageOf(error), data);
}

export function hostLost(cause?: unknown): HoldfastError {
  const message = 'The connection to the kernel host is gone. The next run starts a new one.';
  return new HoldfastError('host_lost', message, { cause });
}

/** The failure as it was on the other side. Anything else that a connection throws means that the host is lost. */
export function fromResponseError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  // A response that was awaited when the connection went has a code of its own.
  const answered =
    error instanceof ResponseError && error.code !== ErrorCodes.PendingResponseRejected;
  if (!answered) return hostLost(error);
  const parsed = v.safeParse(failure, error.data);
  if (!parsed.success) return new HoldfastError('protocol', error.message, { cause: error });
  const { code, cause } = parsed.output;
  const options =
    cause === undefined ? {} : { cause: Object.assign(new Error(error.message), { code: cause }) };
  return new HoldfastError(isErrorCode(code) ? code : 'protocol', error.message, options);
}
