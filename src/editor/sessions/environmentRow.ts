import type { SessionSnapshot } from '../../pool/types';
import { isHeldByPerson } from './owners';
import { leaf, type Row } from './row';
import { count } from './words';

const NAMES_SHOWN = 60;

/** Says that a session was started with a restricted environment, without what, and what to do about it. */
export function environmentRows(session: SessionSnapshot): Row[] {
  const { withheldEnvironment: withheld } = session;
  if (withheld === undefined) return [];
  const { sensitive, unlisted } = withheld;
  const toDo = isHeldByPerson(session)
    ? "Restart it: you hold it now, so it gets your window's environment."
    : 'Names in the setting "holdfast.agents.environment" are given at the next start.';
  const named = sensitive.length === 0 ? 'nothing sensitive' : listed(sensitive);
  const more = unlisted.length === 0 ? '' : ` and ${count(unlisted.length, 'other')}`;
  const label = isHeldByPerson(session) ? 'Withheld, restart to have it' : 'Withheld';
  return [
    {
      ...leaf(`${session.id}/environment`, {
        label,
        description: `${named}${more}`,
        icon: { name: 'lock' },
      }),
      details: [
        ['Environment', 'restricted, as only chats or other programs held it when it started'],
        ['Withheld', listed(sensitive) || 'no name that looks like a secret'],
        ['Not given either', listed(unlisted) || 'none'],
        ['What to do', toDo],
      ],
    },
  ];
}

function listed(names: readonly string[]): string {
  const more = names.length > NAMES_SHOWN ? [`${names.length - NAMES_SHOWN} more`] : [];
  return [...names.slice(0, NAMES_SHOWN), ...more].join(', ');
}
