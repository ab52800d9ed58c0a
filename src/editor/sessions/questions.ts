import type { OwnerSnapshot, SessionSnapshot } from '../../pool/types';
import { othersOf, ownerInWords, type NameOf } from './owners';

/** What the questions about a session are made of. */
export interface Asked {
  readonly session: SessionSnapshot;
  readonly label: string;
  /** This window's owner id. */
  readonly ownerId: string;
  /** First line of what runs, where this window runs it. */
  readonly firstLine: string | undefined;
  readonly nameOf?: NameOf | undefined;
}

/** Whom it would hit when the session's kernel ends, and what would end with it. Undefined: nobody but this window. */
export function whomItHits({
  session,
  label,
  ownerId,
  firstLine,
  nameOf,
}: Asked): string | undefined {
  const others = othersOf(session, ownerId);
  if (others.length === 0) return undefined;
  return `${label} is also held by ${ownersInWords(others, ownerId, nameOf)}.${whatRuns(session, firstLine)}`;
}

/** Undefined: it hits nobody else, so there is nothing to ask. */
export function releaseQuestion(asked: Asked, owner: OwnerSnapshot): string | undefined {
  const { session, label, ownerId, nameOf } = asked;
  if (owner.id === ownerId) return undefined;
  const name = ownerInWords(owner, ownerId, nameOf);
  const holders = session.owners.filter(({ id, kind }) => kind !== 'departed' && id !== owner.id);
  const then =
    holders.length === 0
      ? `Nobody else does: its kernel stops.${whatRuns(session, asked.firstLine)}`
      : `It goes on for ${ownersInWords(holders, ownerId, nameOf)}.`;
  return `${name} holds ${label}. ${then}`;
}

export function forgetQuestion({ session, label }: Pick<Asked, 'session' | 'label'>): string {
  const process = session.pid === undefined ? 'Its process' : `Its process ${session.pid}`;
  return (
    `Forget the kernel of ${label}? ${process} may go on running, and Holdfast no longer tries to end it. ` +
    'It takes no slot any more.'
  );
}

function whatRuns({ state }: SessionSnapshot, firstLine: string | undefined): string {
  if (state.kind !== 'busy' || state.execution.isPreparation) return '';
  return firstLine === undefined ? ' Code of another owner runs.' : ` It runs: ${firstLine}`;
}

export function ownersInWords(
  owners: readonly OwnerSnapshot[],
  ownerId: string,
  nameOf?: NameOf,
): string {
  return owners.map((owner) => ownerInWords(owner, ownerId, nameOf)).join(', ');
}
