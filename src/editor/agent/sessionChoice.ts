import { HoldfastError } from '../../base/errors';
import { languageOf, type Language } from '../../kernel/language';
import type { SessionSnapshot } from '../../pool/types';
import { sessionKeyOf, type SessionName, type SessionTarget } from '../sessions/target';

/** A session as an agent can ask for it. */
interface NamedSession {
  readonly name: string;
  readonly target: SessionTarget;
}

/** What models call languages besides their ids. */
const languageNames: ReadonlyMap<string, Language> = new Map([
  ['python', 'python'],
  ['py', 'python'],
  ['python3', 'python'],
  ['ipython', 'python'],
  ['ipython3', 'python'],
]);

const languages: Readonly<Record<Language, string>> = { python: 'Python' };

/** `name` in small letters. */
export function languageNamed(name: string): Language | undefined {
  return languageNames.get(name);
}

export const nameOfLanguage = (language: Language): string => languages[language];

/** The sessions that an owner may run in, by distinct names: where two share one, their session ids tell them apart. */
export function namedSessions(
  sessions: readonly SessionSnapshot[],
  ownerId: string,
  labelOf: (session: SessionName) => string,
): NamedSession[] {
  const named = new Map<string, NamedSession>();
  for (const session of sessions) {
    const { sessionId, cwd, interpreter, privateTo } = session;
    const language = languageOf(sessionId);
    if (language === undefined || !takesCode(session)) continue;
    if (privateTo !== undefined && privateTo !== ownerId) continue;
    const label = labelOf(session);
    const target = { language, sessionId, cwd, interpreter, label };
    named.set(sessionKeyOf(target), { name: label, target });
  }
  const all = [...named.values()];
  const taken = (name: string): boolean => all.filter((each) => each.name === name).length > 1;
  return all.map(({ name, target }) => ({
    name: taken(name) ? `${name} (${target.sessionId} in ${target.cwd})` : name,
    target,
  }));
}

interface SessionRequest {
  /** As the model wrote it, in small letters. */
  readonly language: string;
  readonly session: string | undefined;
}

/**
 * The session that a model asked for; undefined: the developer's own. Throws `bad_input` that names the sessions that
 * would do, where the language does not run there or the name is nobody's.
 */
export function chooseSession(
  { language: asked, session: name }: SessionRequest,
  sessions: readonly NamedSession[],
): SessionTarget | undefined {
  const language = languageNamed(asked);
  if (language === undefined) {
    const known = Object.values(languages).join(', ');
    throw refusal(
      `Holdfast runs no ${asked} code. It runs ${known}. ${thatWouldDo(sessions)} ` +
        'Translate the code, or use a tool that is made for it, such as a terminal for shell commands.',
    );
  }
  if (name === undefined) return undefined;
  const fitting = sessions.filter(({ target }) => target.language === language);
  const found = sessions.find((each) => each.name === name || each.target.label === name);
  if (!found) throw refusal(`There is no session "${name}". ${thatWouldDo(fitting)}`);
  if (found.target.language !== language) {
    throw refusal(
      `The session "${name}" runs ${languages[found.target.language]}, not ${languages[language]}. ${thatWouldDo(fitting)}`,
    );
  }
  return found.target;
}

/** One whose kernel has died counts: the next run starts a new one. */
function takesCode({ state }: SessionSnapshot): boolean {
  if (state.kind === 'stopUnconfirmed') return state.place !== 'ownName';
  return state.kind !== 'stopping';
}

function thatWouldDo(sessions: readonly NamedSession[]): string {
  const names = sessions.map(({ name, target }) => `"${name}" (${languages[target.language]})`);
  const open =
    names.length === 0 ? 'None is open.' : `Sessions that would do: ${names.join(', ')}.`;
  return `${open} Leave "session" out to use the developer's own, which starts when it is needed.`;
}

function refusal(message: string): HoldfastError {
  return new HoldfastError('bad_input', message);
}
