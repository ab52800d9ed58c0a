import { HoldfastError } from '../../base/errors';
import type { WithheldNames } from '../../kernel/environment';
import type { PooledKernel } from '../../kernel/kernel';
import { languageOf, type Language } from '../../kernel/language';
import type { StartRequest } from '../../pool/types';
import { assertTrusted } from '../trust';
import { sessionKeyOf } from '../sessions/target';
import type { Python } from './index';

/** Custody of kernels: starts one in the kernel host. */
interface Custody {
  startKernel(spec: {
    language: Language;
    interpreter: string;
    cwd: string;
    sessionId: string;
    /** The whole environment. */
    env: Readonly<Record<string, string>>;
    withheld?: WithheldNames;
    place?: NonNullable<StartRequest['place']>;
    history: string;
    signal: AbortSignal;
  }): Promise<PooledKernel>;
}

/**
 * The pool's start function: chooses the backend by the session's namespace, and the interpreter where nobody has. The
 * kernel has run its prelude. One whose start was aborted meanwhile is given back all the same, for the pool to stop.
 */
export async function startKernel(
  request: StartRequest,
  {
    interpreters,
    preludes,
    environments,
  }: Pick<Python, 'interpreters' | 'preludes' | 'environments'>,
  custody: Custody,
): Promise<PooledKernel> {
  assertTrusted();
  const { cwd, sessionId, place, signal } = request;
  const language = languageOf(sessionId);
  if (language === undefined)
    throw new HoldfastError('bad_input', `No backend runs sessions like "${sessionId}".`);
  const interpreter = request.interpreter ?? (await interpreters.find(cwd)).path;
  const fit = await interpreters.fitting(interpreter);
  const { env, withheld } = await environments.of(request, fit);
  const kernel = await custody.startKernel({
    language,
    interpreter,
    cwd,
    sessionId,
    env,
    ...(withheld && { withheld }),
    history: sessionKeyOf(request),
    ...(place && { place }),
    signal,
  });
  return preludes.begin(kernel, request, interpreter);
}
