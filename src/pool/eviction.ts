import type { Session } from './session';

/** The least recently used idle session that may be taken. */
export function chooseVictim(
  sessions: Iterable<Session>,
  mayEvict: (session: Session) => boolean,
): Session | undefined {
  const idle = [...sessions].filter((session) => session.isIdle);
  idle.sort((one, other) => one.turns.lastUse - other.turns.lastUse);
  return idle.find(mayEvict);
}
