import { codeOf, messageOf } from '../base/errors';

const CODES = new Set(['EMFILE', 'ENFILE', 'EAGAIN']);
const TEXTS = [/too many open files/i, /resource temporarily unavailable/i];

/** Whether a start failed for want of something that other kernels hold. The code knows better than the text. */
export function isOutOfResources(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined && CODES.has(code)) return true;
  if (TEXTS.some((text) => text.test(messageOf(error)))) return true;
  return error instanceof Error && error.cause !== undefined && isOutOfResources(error.cause);
}
