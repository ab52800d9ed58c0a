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

/** The same string for the same session, before it exists, while it lives and after it is gone. */
export function sessionKeyOf(
  session: Pick<SessionTarget, 'sessionId' | 'cwd' | 'interpreter'> & { privateTo?: string },
): string {
  const parts = [session.sessionId, session.cwd, session.interpreter ?? ''];
  return JSON.stringify(session.privateTo === undefined ? parts : [...parts, session.privateTo]);
}
