const errorCodes = [
  'interpreter_not_found',
  'interpreter_failed',
  'start_timeout',
  'start_failed',
  'kernel_died',
  'kernel_not_found',
  'host_unavailable',
  'host_lost',
  'protocol',
  'untrusted_workspace',
  'bad_input',
  'hook_failed',
  'closed',
  'pool_full',
  'run_not_found',
  'too_many_runs',
  'stop_unconfirmed',
  'capture_busy',
  'capture_unavailable',
] as const;

/** What a caller can branch on. A message is for a person: it names the thing and the next step. */
type ErrorCode = (typeof errorCodes)[number];

export function isErrorCode(code: string): code is ErrorCode {
  return errorCodes.some((each) => each === code);
}

/** The one error class of broken contracts. Expected outcomes are values, not errors. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system or Holdfast error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What was thrown, as an Error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error), { cause: error });
}
