import type {
  CapacitySnapshot,
  ExecutionSnapshot,
  OwnerSnapshot,
  SessionSnapshot,
} from '../../pool/types';
import type { ActiveRun } from '../runs';
import { abilitiesOf } from './abilities';
import { backgroundRows, type BackgroundFacts } from './backgroundRows';
import { capacityRow } from './capacityRow';
import { environmentRows } from './environmentRow';
import { stateIcon } from './icons';
import { processLines, processRow, silenceLine, silenceRows } from './kernelRows';
import { ownerInWords, ownerKind, type NameOf } from './owners';
import { leaf, ownerRowId, runRowId, sessionRowId, type Leaf, type Row, type RowIcon } from './row';
import { age, duration, languageInWords, programOf, stateAtRest, stepInWords } from './words';

export interface RowContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** This window's owner id. */
  readonly ownerId: string;
  labelOf(session: Pick<SessionSnapshot, 'sessionId' | 'cwd' | 'interpreter'>): string;
  readonly nameOf?: NameOf;
  /** When an owner that was closed lets go, ms since the epoch. Undefined: it is there. */
  letsGoAt?(ownerId: string): number | undefined;
  /** First line of an execution's code, where this window ran it. */
  firstLineOf(executionId: string): string | undefined;
  /** Runs of this window in kernels that no session retains. */
  inOwnKernels(): readonly Pick<ActiveRun, 'executionId' | 'firstLine' | 'startedAt'>[];
  /** The session's transcript is not kept on disk. Absent: each is, as far as the settings go. */
  isLeftOut?(session: SessionSnapshot): boolean;
  /** Oldest first. */
  backgroundRuns?(): readonly BackgroundFacts[];
}

/** The whole tree: the capacity line, then the sessions. */
export function treeRows(
  sessions: readonly SessionSnapshot[],
  capacity: CapacitySnapshot | undefined,
  context: RowContext,
): Row[] {
  return [
    ...capacityRow(capacity, sessions, context),
    ...sessions.map((session) => sessionRow(session, context)),
    ...context.inOwnKernels().map((run) => runRow(run, context.now)),
    ...backgroundRows(context.backgroundRuns?.() ?? [], context),
  ];
}

function sessionRow(session: SessionSnapshot, context: RowContext): Row {
  const label = context.labelOf(session);
  const doing = stateAtRest(session, context.now);
  const language = languageInWords(session);
  const notes = notesOn(session, context);
  const owners = session.owners.map((owner) =>
    ownerInWords(owner, context.ownerId, context.nameOf),
  );
  return {
    id: sessionRowId(session.id),
    label,
    description: [doing, ...notes, language].join(' · '),
    details: details(session, doing, context),
    icon: stateIcon(session),
    contextValue: [
      'holdfast.session',
      ...abilitiesOf(session),
      ...(context.isLeftOut?.(session) ? ['leftOut'] : []),
    ].join(' '),
    spoken: [label, language, doing, ...notes, `held by ${owners.join(', ') || 'nobody'}`].join(
      ', ',
    ),
    children: [
      ...stopRows(session, context),
      ...silenceRows(session.id, session, context.now),
      ...executionRows(session, context),
      ...session.owners.map((owner) => ownerRow(session, owner, context)),
      ...processRows(session, context),
      ...environmentRows(session),
    ],
  };
}

/** A run that has a kernel for itself takes no slot, but it is there, and can be stopped. */
function runRow(run: Pick<ActiveRun, 'executionId' | 'firstLine' | 'startedAt'>, now: number): Row {
  const doing =
    run.startedAt === undefined ? 'starting' : `running ${duration(now - run.startedAt)}`;
  return leaf(runRowId(run.executionId), {
    label: run.firstLine,
    description: `${doing} · kernel of its own`,
    icon: { name: 'sync~spin', color: 'charts.blue' },
    contextValue: 'holdfast.ownKernel',
  });
}

function notesOn(session: SessionSnapshot, context: RowContext): readonly string[] {
  const { privateTo, isAboveMemoryCap } = session;
  const notes: string[] = [];
  const waiting = queuedRuns(session).length;
  if (waiting > 0) notes.push(`${waiting} waiting`);
  if (isAboveMemoryCap) notes.push('too much memory');
  if (context.isLeftOut?.(session)) notes.push('transcript not kept');
  if (privateTo !== undefined) {
    const owner = ownerInWords(
      { id: privateTo, kind: 'explicit' },
      context.ownerId,
      context.nameOf,
    );
    notes.push(`only for ${owner}`);
  }
  return notes;
}

function details(
  session: SessionSnapshot,
  doing: string,
  context: RowContext,
): readonly (readonly [string, string])[] {
  const { state } = session;
  const program = programOf(session);
  const owners = session.owners.map((owner) =>
    ownerInWords(owner, context.ownerId, context.nameOf),
  );
  const lines: (readonly [string, string])[] = [
    ['State', doing],
    ['Folder', session.cwd],
    ['Held by', owners.join(', ') || 'nobody'],
  ];
  if (session.silence) lines.push(silenceLine(session.silence));
  if (state.kind === 'dead') lines.push(['Why', state.summary]);
  if (state.kind === 'stopUnconfirmed') {
    lines.push(['Why', state.reason]);
    lines.push(['Takes code', state.place === 'ownName' ? 'no' : 'yes, a run takes it up again']);
  }
  if (session.description !== undefined) lines.push(['Language', languageInWords(session)]);
  if (program !== undefined) lines.push(['Interpreter', program]);
  lines.push(...processLines(session));
  lines.push(['Session', `${session.sessionId}, start ${session.incarnation}`]);
  return lines;
}

function stopRows(session: SessionSnapshot, { now }: RowContext): Row[] {
  const { state } = session;
  const row = (what: Leaf): Row[] => [leaf(`${session.id}/stop`, what)];
  if (state.kind === 'stopping') {
    const { progress } = state;
    const left = progress && `next step in ${duration(progress.deadline - now)}`;
    return row({
      label: progress ? `Stopping: ${stepInWords(progress.step)}` : 'Stopping',
      description: [attempt(state.attempt), left].filter(Boolean).join(' · '),
      icon: { name: 'debug-stop' },
    });
  }
  if (state.kind === 'stopUnconfirmed') {
    const next =
      state.nextTryAt === undefined ? '' : `, next try in ${duration(state.nextTryAt - now)}`;
    return row({
      label: `Attempt ${state.attempt} failed${next}`,
      description: state.reason,
      icon: { name: 'history' },
    });
  }
  return state.kind === 'dead' ? row({ label: state.summary, icon: { name: 'info' } }) : [];
}

function attempt(count: number): string {
  return count > 1 ? `attempt ${count}` : '';
}

function executionRows(session: SessionSnapshot, context: RowContext): Row[] {
  const { state } = session;
  const running = state.kind === 'busy' ? [state.execution] : [];
  const row = (execution: ExecutionSnapshot, description: string, icon: RowIcon): Row =>
    leaf(`${session.id}/run:${execution.id}`, {
      label: labelOfRun(execution, context),
      description,
      icon,
    });
  return [
    ...running.map((execution) => {
      const since = execution.startedAt ?? state.since;
      return row(execution, `running ${duration(context.now - since)}`, { name: 'play' });
    }),
    ...queuedRuns(session).map((execution) => row(execution, 'waiting', { name: 'watch' })),
  ];
}

function labelOfRun({ id, isPreparation }: ExecutionSnapshot, context: RowContext): string {
  if (isPreparation) return 'a look at its prelude';
  return context.firstLineOf(id) ?? 'code of another owner';
}

function queuedRuns({ queue }: SessionSnapshot): readonly ExecutionSnapshot[] {
  return queue.filter(({ isPreparation }) => !isPreparation);
}

function ownerRow(session: SessionSnapshot, owner: OwnerSnapshot, context: RowContext): Row {
  const label = ownerInWords(owner, context.ownerId, context.nameOf);
  const until = context.letsGoAt?.(owner.id);
  const holds = until === undefined ? 'holds it' : `closed, lets go in ${age(until - context.now)}`;
  const hasLeft = owner.kind === 'departed';
  return leaf(ownerRowId(session.id, owner.id), {
    label,
    description: hasLeft ? 'has left' : holds,
    icon: { name: hasLeft ? 'sign-out' : ownerIcon(owner.id, context.ownerId) },
    contextValue: hasLeft ? 'holdfast.departed' : 'holdfast.owner',
  });
}

function ownerIcon(ownerId: string, thisWindow: string): string {
  if (ownerId === thisWindow) return 'window';
  return ownerKind(ownerId) === 'chat' ? 'comment-discussion' : 'account';
}

function processRows(session: SessionSnapshot, { now }: RowContext): Row[] {
  const program = programOf(session);
  const rows: Row[] = [];
  if (program !== undefined)
    rows.push(
      leaf(`${session.id}/interpreter`, {
        label: languageInWords(session),
        description: program,
        icon: { name: 'symbol-namespace' },
      }),
    );
  return [...rows, ...processRow(session.id, session, now)];
}
