import type { CapacitySnapshot, SessionSnapshot, WaiterSnapshot } from '../../pool/types';
import { leaf, waiterRowId, type Row } from './row';
import type { RowContext } from './rows';
import { sessionKeyOf } from './target';
import { age, count } from './words';

/** How many slots are taken, and who waits for whom. Nothing where nothing is taken. */
export function capacityRow(
  capacity: CapacitySnapshot | undefined,
  sessions: readonly SessionSnapshot[],
  context: RowContext,
): Row[] {
  if (!capacity || capacity.counted + capacity.waiting.length === 0) return [];
  const { counted, capacity: slots, waiting } = capacity;
  const isFull = counted >= slots;
  const label = `${counted} of ${count(slots, 'kernel')}`;
  const waits = waiting.length === 0 ? '' : `${waiting.length} waiting for a slot`;
  const holders = holdersInWords(sessions, context);
  return [
    {
      // A row that has become a parent stays closed: one with rows below it is another row, open from the start.
      id: waits ? 'capacity:waited' : 'capacity',
      label,
      description: waits || (isFull ? 'all slots are taken' : ''),
      details: [
        ['Slots', `${slots}, one for each kernel that starts, runs or stops`],
        ['Taken by', holders],
        ['Setting', 'holdfast.capacity'],
      ],
      icon: waits
        ? { name: 'watch', color: 'problemsWarningIcon.foreground' }
        : { name: 'server-environment' },
      contextValue: ['holdfast.capacity', ...(isFull ? ['full'] : [])].join(' '),
      spoken: [label, waits || (isFull ? 'all slots are taken' : '')].filter(Boolean).join(', '),
      children: waiting.map((waiter) => waiterRow(waiter, holders, context)),
    },
  ];
}

function waiterRow(waiter: WaiterSnapshot, holders: string, context: RowContext): Row {
  const label = `${context.labelOf(waiter)} waits`;
  const since = age(context.now - waiter.since);
  return leaf(waiterRowId(sessionKeyOf(waiter)), {
    label,
    description: `for ${holders} · ${since}`,
    icon: { name: 'watch' },
    contextValue: 'holdfast.waiter',
    spoken: `${label} for a slot for ${since}. The slots are taken by ${holders}`,
  });
}

/** Who holds the slots, as a list. */
export function holdersInWords(
  sessions: readonly SessionSnapshot[],
  { labelOf }: Pick<RowContext, 'labelOf'>,
): string {
  const one = (session: SessionSnapshot): string => {
    const what = notable(session);
    return what === undefined ? labelOf(session) : `${labelOf(session)} (${what})`;
  };
  return sessions.map(one).join(', ');
}

/** Why a slot is taken, where it is not by somebody's session that can be used. */
function notable({ state }: SessionSnapshot): string | undefined {
  switch (state.kind) {
    case 'stopping':
      return 'stopping';
    case 'stopUnconfirmed':
      return 'stop not confirmed';
    case 'starting':
    case 'idle':
    case 'busy':
    case 'dead':
      return undefined;
  }
}
