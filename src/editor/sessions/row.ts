/** A row of the Sessions tree as plain data. */
export interface Row {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Lines of "name: value" for the tooltip. */
  readonly details: readonly (readonly [name: string, value: string])[];
  readonly icon: RowIcon;
  /** What the row's menus go by. */
  readonly contextValue: string;
  /** What a screen reader says. */
  readonly spoken: string;
  readonly children: readonly Row[];
}

export interface RowIcon {
  readonly name: string;
  readonly color?: string;
}

export interface Leaf {
  readonly label: string;
  readonly description?: string;
  readonly icon: RowIcon;
  readonly contextValue?: string;
  /** Where it is more than label and description. */
  readonly spoken?: string;
}

export function leaf(id: string, row: Leaf): Row {
  const description = row.description ?? '';
  return {
    id,
    label: row.label,
    description,
    details: [],
    icon: row.icon,
    contextValue: row.contextValue ?? 'holdfast.detail',
    spoken: row.spoken ?? [row.label, description].filter(Boolean).join(', '),
    children: [],
  };
}

// What a row stands for is in its id, so that a menu's command finds it again in a later snapshot.

const SESSION = 'session:';
const WAITER = 'waiter:';
const RUN = 'run:';

export const sessionRowId = (id: string): string => SESSION + id;
export const ownerRowId = (id: string, ownerId: string): string => `${id}/owner:${ownerId}`;
export const waiterRowId = (key: string): string => WAITER + key;

/** The snapshot id of the session that a row stands for, if it is a session's row. */
export function sessionOfRow(rowId: unknown): string | undefined {
  return after(SESSION, rowId);
}

export const runRowId = (executionId: string): string => RUN + executionId;

/** The execution id of a run in a kernel of its own. */
export function runOfRow(rowId: unknown): string | undefined {
  return after(RUN, rowId);
}

const BACKGROUND = 'background:';

export const backgroundRowId = (executionId: string): string => BACKGROUND + executionId;

/** The execution id of a background run. */
export function backgroundOfRow(rowId: unknown): string | undefined {
  return after(BACKGROUND, rowId);
}

/** The key that a row's waiter wants a session for. */
export function keyOfWaiterRow(rowId: unknown): string | undefined {
  return after(WAITER, rowId);
}

/** The owner that a row stands for, and the snapshot id of the session that it holds. */
export function ownerOfRow(rowId: unknown): { id: string; ownerId: string } | undefined {
  const [, id, ownerId] = (typeof rowId === 'string' && /^([^/]+)\/owner:(.*)$/s.exec(rowId)) || [];
  return id === undefined || ownerId === undefined ? undefined : { id, ownerId };
}

function after(prefix: string, rowId: unknown): string | undefined {
  return typeof rowId === 'string' && rowId.startsWith(prefix)
    ? rowId.slice(prefix.length)
    : undefined;
}
