import { languageOf, type Language } from '../../kernel/language';

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

/** The session that a key stands for, if anybody may run in it. */
export function targetOfKey(key: string, label: string): SessionTarget | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(key);
  } catch {
    // Keys of other things are no JSON.
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [sessionId, cwd, interpreter] = parts as unknown[];
  if (typeof sessionId !== 'string' || typeof cwd !== 'string' || typeof interpreter !== 'string')
    return undefined;
  const language = languageOf(sessionId);
  return language && { language, sessionId, cwd, interpreter: interpreter || undefined, label };
}
