import { randomBytes } from 'node:crypto';
import { withoutEditorNames } from '../../kernel/environment';
import { NONCE_VARIABLE } from '../../platform/processes';

/** An unguessable mark, carried in a kernel's environment by it and by all that it starts. */
export function freshNonce(): string {
  return randomBytes(16).toString('hex');
}

/** A kernel's environment: what it was given, without what no kernel may see, with what its launch needs. */
export function kernelEnvironment(
  given: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
  nonce: string,
): Record<string, string> {
  // The nonce of another kernel, where the editor was started by one, is spelled as it may be on Windows.
  const inherited = Object.entries(withoutEditorNames(given)).filter(
    ([name]) => name.toUpperCase() !== NONCE_VARIABLE,
  );
  return { ...Object.fromEntries(inherited), ...added, [NONCE_VARIABLE]: nonce };
}
