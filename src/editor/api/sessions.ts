import type { SessionInfo } from '../../api';
import { HoldfastError } from '../../base/errors';
import { languageOf, namespaced } from '../../kernel/language';
import type { SessionSnapshot } from '../../pool/types';
import type { Place } from '../runs';
import type { SessionBook } from '../sessions/sessionBook';
import type { SessionsModel } from '../sessions/sessionsModel';
import type { SessionTarget } from '../sessions/target';
import type { ParsedPlace } from './input';

export interface PlaceParts {
  readonly model: Pick<SessionsModel, 'withId'>;
  readonly book: Pick<SessionBook, 'labelOf' | 'know'>;
  /** The folder of whoever names none. */
  defaultFolder(): string;
  resolve(place: Place): Promise<SessionTarget>;
}

/** The session that an extension means. Rejects with `kernel_not_found` for one that is gone. */
export async function targetOf(
  { cwd, name, session }: ParsedPlace,
  ownerId: string,
  parts: PlaceParts,
): Promise<SessionTarget> {
  if (session !== undefined) return targetWithId(session, ownerId, parts);
  // No document: a person's choice for one of theirs is not meant.
  const target = await parts.resolve({ document: '', folder: cwd ?? parts.defaultFolder() });
  if (name === undefined) return target;
  const named = { ...target, sessionId: namespaced(target.language, name), label: name };
  parts.book.know(named);
  return named;
}

function targetWithId(id: string, ownerId: string, { model, book }: PlaceParts): SessionTarget {
  const found = model.withId(id);
  if (!found) {
    throw new HoldfastError('kernel_not_found', `There is no session ${id} any more.`);
  }
  const { sessionId, cwd, interpreter, privateTo } = found;
  if (privateTo !== undefined && privateTo !== ownerId) {
    throw new HoldfastError('bad_input', `The session ${id} is for its owner alone.`);
  }
  const language = languageOf(sessionId) ?? 'python';
  return { language, sessionId, cwd, interpreter, label: book.labelOf(found) };
}

export function sessionInfo(
  session: SessionSnapshot,
  ownerId: string,
  book: Pick<SessionBook, 'labelOf'>,
): SessionInfo {
  const { id, sessionId, cwd, state, incarnation, owners } = session;
  return {
    id,
    label: book.labelOf(session),
    language: languageOf(sessionId) ?? 'python',
    cwd,
    state: state.kind,
    incarnation,
    isHeldByYou: owners.some((owner) => owner.id === ownerId && owner.kind === 'explicit'),
  };
}
