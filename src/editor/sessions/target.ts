import type { Language } from '../../kernel/language';

/** Which session a run goes to: the parts of its key, and what people call it. */
export interface SessionTarget {
  readonly language: Language;
  readonly sessionId: string;
  /** Canonical working directory. */
  readonly cwd: string;
  /** Only when it was chosen explicitly. */
  readonly interpreter: string | undefined;
  readonly label: string;
}

/** The parts of a session's key. */
export interface SessionName {
  readonly sessionId: string;
  readonly cwd: string;
  readonly interpreter?: string | undefined;
  readonly privateTo?: string | undefined;
}

/** The same string for the same session, before it exists, while it lives and after it is gone. */
export function sessionKeyOf({ sessionId, cwd, interpreter, privateTo }: SessionName): string {
  const parts = [sessionId, cwd, interpreter ?? ''];
  return JSON.stringify(privateTo === undefined ? parts : [...parts, privateTo]);
}
