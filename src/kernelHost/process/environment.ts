import { randomBytes } from 'node:crypto';
import { NONCE_VARIABLE } from '../../platform/processes';

/** An unguessable mark, carried in a kernel's environment by it and by all that it starts. */
export function freshNonce(): string {
  return randomBytes(16).toString('hex');
}

// They steer Electron, the editor and Node, never the user's code: ELECTRON_RUN_AS_NODE would turn an Electron app
// that the code starts into plain Node.
const NEVER_INHERITED = /^(?:ELECTRON_.*|VSCODE_.*|NODE_OPTIONS|HOLDFAST_KERNEL_NONCE)$/i;

/** A kernel's environment: what it was given, without what no kernel may see, with what its launch needs. */
export function kernelEnvironment(
  given: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
  nonce: string,
): Record<string, string> {
  const inherited = Object.entries(given).filter(([name]) => !NEVER_INHERITED.test(name));
  return { ...Object.fromEntries(inherited), ...added, [NONCE_VARIABLE]: nonce };
}
