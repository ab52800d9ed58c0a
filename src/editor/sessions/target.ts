import * as v from 'valibot';
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
  const { sessionId, cwd, interpreter, privateTo } = nameOfKey(key) ?? {};
  if (sessionId === undefined || cwd === undefined || privateTo !== undefined) return undefined;
  const language = languageOf(sessionId);
  return language && { language, sessionId, cwd, interpreter, label };
}

/** The other way round; undefined: it is no session's key. */
export function nameOfKey(key: string): SessionName | undefined {
  const [sessionId, cwd, interpreter, privateTo, ...more] = partsOf(key);
  if (sessionId === undefined || cwd === undefined || interpreter === undefined) return undefined;
  if (more.length > 0) return undefined;
  return { sessionId, cwd, interpreter: interpreter || undefined, privateTo };
}

function partsOf(key: string): readonly string[] {
  try {
    return v.parse(v.array(v.string()), JSON.parse(key));
  } catch {
    // Keys of other things are no JSON, or no such JSON.
    return [];
  }
}
