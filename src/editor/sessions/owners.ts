import type { OwnerKind, OwnerSnapshot, SessionSnapshot } from '../../pool/types';
import { nameOfChat } from '../agent/chat';

const kinds: readonly OwnerKind[] = ['window', 'chat', 'client', 'extension'];

/** What stands behind an owner: ids say it before their first colon, as in `window:…`. */
export function ownerKind(ownerId: string): OwnerKind | undefined {
  return kinds.find((kind) => ownerId.startsWith(`${kind}:`));
}

/**
 * What a window holds is a person's: it is stopped for others only when the person has chosen it. The rest may go when
 * nobody uses it and somebody waits.
 */
export function mayEvict(session: Pick<SessionSnapshot, 'owners'>): boolean {
  return !isHeldByPerson(session);
}

/** A window holds it, whichever. */
export function isHeldByPerson({ owners }: Pick<SessionSnapshot, 'owners'>): boolean {
  return owners.some(({ id, kind }) => kind !== 'departed' && ownerKind(id) === 'window');
}

/** What an owner is called, where it has told: the title of a chat. */
export type NameOf = (ownerId: string) => string | undefined;

/** An owner for people, who know their own window as "This window". */
export function ownerInWords(
  { id, kind }: OwnerSnapshot,
  thisWindow: string,
  nameOf?: NameOf,
): string {
  if (id === thisWindow) return 'This window';
  if (kind === 'fallback') return 'Whoever runs next';
  if (ownerKind(id) === 'window') return 'Another window';
  return nameOf?.(id) ?? nameOfChat(id) ?? id;
}

/** Whom it hits when a session ends: those who hold it, but for this window. */
export function othersOf(
  { owners }: Pick<SessionSnapshot, 'owners'>,
  thisWindow: string,
): readonly OwnerSnapshot[] {
  return owners.filter(({ id, kind }) => kind === 'explicit' && id !== thisWindow);
}
