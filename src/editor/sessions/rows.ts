import type { ExecutionSnapshot, OwnerSnapshot, SessionSnapshot } from '../../pool/types';
import {
  bytesInWords,
  duration,
  languageInWords,
  programOf,
  stateInWords,
  stepInWords,
} from './words';

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

export interface RowContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** This window's owner id. */
  readonly ownerId: string;
  labelOf(session: SessionSnapshot): string;
  /** First line of an execution's code, where this window ran it. */
  firstLineOf(executionId: string): string | undefined;
}

const PREFIX = 'session:';

/** The snapshot id of the session that a row stands for, if it is a session's row. */
export function sessionOfRow(rowId: unknown): string | undefined {
  return typeof rowId === 'string' && rowId.startsWith(PREFIX)
    ? rowId.slice(PREFIX.length)
    : undefined;
}

export function sessionRows(sessions: readonly SessionSnapshot[], context: RowContext): Row[] {
  return sessions.map((session) => sessionRow(session, context));
}

/** Ids of the rows to refresh. Refreshing a row refreshes those below it. */
export function changedRows(before: Row | undefined, now: Row): readonly string[] {
  const sameChildren =
    before?.children.map((row) => row.id).join('\n') ===
    now.children.map((row) => row.id).join('\n');
  if (!before || !sameChildren || !sameRow(before, now)) return [now.id];
  return now.children.filter((row, at) => !sameRow(before.children[at], row)).map((row) => row.id);
}

function sameRow(before: Row | undefined, now: Row): boolean {
  return JSON.stringify({ ...before, children: [] }) === JSON.stringify({ ...now, children: [] });
}

function sessionRow(session: SessionSnapshot, context: RowContext): Row {
  const { state } = session;
  const label = context.labelOf(session);
  const doing = stateInWords(session, context.now);
  const language = languageInWords(session);
  const waiting = session.queue.length > 0 ? [`${session.queue.length} waiting`] : [];
  const owners = session.owners.map((owner) => ownerName(owner, context));
  return {
    id: PREFIX + session.id,
    label,
    description: [doing, ...waiting, language].join(' · '),
    details: details(session, doing, context),
    icon: stateIcon(state.kind),
    contextValue: ['holdfast.session', ...abilities(session)].join(' '),
    spoken: [label, language, doing, ...waiting, `held by ${owners.join(', ') || 'nobody'}`].join(
      ', ',
    ),
    children: [
      ...stopRows(session, context),
      ...executionRows(session, context),
      ...session.owners.map((owner) => ownerRow(session, owner, context)),
      ...processRows(session),
    ],
  };
}

/** What a person can do to a session, as words that menus look for. */
function abilities({ state }: SessionSnapshot): readonly string[] {
  switch (state.kind) {
    case 'starting':
      return ['killable'];
    case 'idle':
      return ['restartable', 'killable'];
    case 'busy':
      return ['running', 'restartable', 'killable'];
    case 'stopping':
    case 'stopUnconfirmed':
      return ['killable'];
    case 'dead':
      return ['restartable'];
  }
}

export function stateIcon(kind: SessionSnapshot['state']['kind']): RowIcon {
  switch (kind) {
    case 'starting':
      return { name: 'loading~spin' };
    case 'idle':
      return { name: 'circle-filled', color: 'testing.iconPassed' };
    case 'busy':
      return { name: 'sync~spin', color: 'charts.blue' };
    case 'stopping':
      return { name: 'loading~spin', color: 'charts.orange' };
    case 'stopUnconfirmed':
      return { name: 'warning', color: 'problemsWarningIcon.foreground' };
    case 'dead':
      return { name: 'error', color: 'problemsErrorIcon.foreground' };
  }
}

function details(
  session: SessionSnapshot,
  doing: string,
  context: RowContext,
): readonly (readonly [string, string])[] {
  const { state } = session;
  const program = programOf(session);
  const lines: (readonly [string, string])[] = [
    ['State', doing],
    ['Folder', session.cwd],
    ['Held by', session.owners.map((owner) => ownerName(owner, context)).join(', ') || 'nobody'],
  ];
  if (state.kind === 'dead') lines.push(['Why', state.summary]);
  if (state.kind === 'stopUnconfirmed') lines.push(['Why', state.reason]);
  if (session.description !== undefined) lines.push(['Language', languageInWords(session)]);
  if (program !== undefined) lines.push(['Interpreter', program]);
  if (session.pid !== undefined) lines.push(['Process', String(session.pid)]);
  if (session.memoryBytes !== undefined) lines.push(['Memory', bytesInWords(session.memoryBytes)]);
  lines.push(['Session', `${session.sessionId}, start ${session.incarnation}`]);
  return lines;
}

function stopRows(session: SessionSnapshot, { now }: RowContext): Row[] {
  const { state } = session;
  if (state.kind === 'stopping') {
    const { progress } = state;
    const left = progress && `next step in ${duration(progress.deadline - now)}`;
    return [
      leaf(session, 'stop', {
        label: progress ? `Stopping: ${stepInWords(progress.step)}` : 'Stopping',
        description: [attempt(state.attempt), left].filter(Boolean).join(' · '),
        icon: { name: 'debug-stop' },
      }),
    ];
  }
  if (state.kind === 'stopUnconfirmed') {
    const next =
      state.nextTryAt === undefined ? '' : `next try in ${duration(state.nextTryAt - now)}`;
    return [
      leaf(session, 'stop', {
        label: state.reason,
        description: [attempt(state.attempt), next].filter(Boolean).join(' · '),
        icon: { name: 'history' },
      }),
    ];
  }
  if (state.kind === 'dead')
    return [leaf(session, 'stop', { label: state.summary, icon: { name: 'info' } })];
  return [];
}

function attempt(count: number): string {
  return count > 1 ? `attempt ${count}` : '';
}

function executionRows(session: SessionSnapshot, context: RowContext): Row[] {
  const { state } = session;
  const running = state.kind === 'busy' ? [state.execution] : [];
  const row = (execution: ExecutionSnapshot, description: string, icon: RowIcon): Row =>
    leaf(session, `run:${execution.id}`, {
      label: context.firstLineOf(execution.id) ?? 'code of another owner',
      description,
      icon,
    });
  return [
    ...running.map((execution) => {
      const since = execution.startedAt ?? state.since;
      return row(execution, `running ${duration(context.now - since)}`, { name: 'play' });
    }),
    ...session.queue.map((execution) => row(execution, 'waiting', { name: 'watch' })),
  ];
}

function ownerRow(session: SessionSnapshot, owner: OwnerSnapshot, context: RowContext): Row {
  return leaf(session, `owner:${owner.id}`, {
    label: ownerName(owner, context),
    description: owner.kind === 'departed' ? 'has left' : 'holds it',
    icon: { name: owner.id === context.ownerId ? 'window' : 'account' },
  });
}

function ownerName(owner: OwnerSnapshot, { ownerId }: RowContext): string {
  if (owner.id === ownerId) return 'This window';
  return owner.kind === 'fallback' ? 'Whoever runs next' : owner.id;
}

function processRows(session: SessionSnapshot): Row[] {
  const program = programOf(session);
  const memory = session.memoryBytes === undefined ? [] : [bytesInWords(session.memoryBytes)];
  const rows: Row[] = [];
  if (program !== undefined)
    rows.push(
      leaf(session, 'interpreter', {
        label: languageInWords(session),
        description: program,
        icon: { name: 'symbol-namespace' },
      }),
    );
  if (session.pid !== undefined)
    rows.push(
      leaf(session, 'process', {
        label: `Process ${session.pid}`,
        description: memory.join(''),
        icon: { name: 'server-process' },
      }),
    );
  return rows;
}

function leaf(
  session: SessionSnapshot,
  name: string,
  row: { label: string; description?: string; icon: RowIcon },
): Row {
  const description = row.description ?? '';
  return {
    id: `${session.id}/${name}`,
    label: row.label,
    description,
    details: [],
    icon: row.icon,
    contextValue: 'holdfast.detail',
    spoken: [row.label, description].filter(Boolean).join(', '),
    children: [],
  };
}
