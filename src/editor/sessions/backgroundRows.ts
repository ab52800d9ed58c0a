import type { BackgroundSnapshot } from '../../runner/backgroundTypes';
import { KILLED } from '../../runner/backgroundEnd';
import { labelOf } from '../background/session';
import { ownerInWords } from './owners';
import { notResponding } from './icons';
import { processLines, processRow, silenceLine, silenceRows, type KernelFacts } from './kernelRows';
import { backgroundRowId, leaf, type Row, type RowIcon } from './row';
import { age, duration, troubles } from './words';

export type BackgroundFacts = Omit<BackgroundSnapshot, 'stdout'> &
  KernelFacts & {
    /** An interrupt was not heeded, or did not arrive. */
    readonly unheeded?: boolean;
  };

/** Rows of runs that are over; the older ones are known, and not shown. */
const OVER = 10;

/** Background runs: those that go on, each with what is known of it below, and the latest that are over. */
export function backgroundRows(
  runs: readonly BackgroundFacts[],
  context: { readonly now: number; readonly ownerId: string },
): Row[] {
  const over = runs.filter(({ done }) => done).slice(-OVER);
  return [...runs.filter(({ done }) => !done), ...over].map((run) => rowOf(run, context));
}

function rowOf(
  run: BackgroundFacts,
  { now, ownerId }: { readonly now: number; readonly ownerId: string },
): Row {
  const label = labelOf(run.request);
  const holder = ownerOf(run, ownerId);
  const doing = doingOf(run, now);
  const { artifact, error, request, silence } = run;
  return {
    id: backgroundRowId(run.executionId),
    label,
    description: `${doing} · in the background`,
    details: [
      ['State', doing],
      ['Held by', holder],
      ['Folder', request.cwd ?? ''],
      ['Started', new Date(run.startedAt).toLocaleTimeString()],
      ...(silence === undefined ? [] : [silenceLine(silence)]),
      // Its memory stands below: what a person points at is not drawn anew for it.
      ...processLines({ pid: run.pid }),
      ...(error === undefined ? [] : [['Error', lastLineOf(error)] as const]),
      ...(artifact === undefined ? [] : [['Full output', artifact] as const]),
    ],
    icon: iconOf(run),
    contextValue: [
      'holdfast.background',
      run.done ? 'over' : 'going',
      ...(request.source ? ['revealable'] : []),
      ...(artifact === undefined ? [] : ['onDisk']),
    ].join(' '),
    spoken: [label, 'background run', doing, `held by ${holder}`].join(', '),
    children: run.done ? [] : childrenOf(run, holder, now, ownerId),
  };
}

/** What a person points at changes once a minute; the seconds stand below it. */
function childrenOf(run: BackgroundFacts, holder: string, now: number, ownerId: string): Row[] {
  const id = backgroundRowId(run.executionId);
  const isOwn = (run.request.ownerId ?? ownerId) === ownerId;
  return [
    ...silenceRows(id, run, now),
    leaf(`${id}/time`, {
      label: phaseOf(run),
      description: duration(now - run.startedAt),
      icon: { name: 'clock' },
    }),
    leaf(`${id}/owner`, {
      label: holder,
      description: 'holds it',
      icon: { name: isOwn ? 'window' : 'account' },
    }),
    ...processRow(id, run, now),
  ];
}

function phaseOf({ phase }: BackgroundFacts): string {
  if (phase === 'starting') return 'Starting';
  return phase === 'cleaningUp' ? 'Stopping its kernel' : 'Running';
}

function doingOf(run: BackgroundFacts, now: number): string {
  const { status, startedAt, endedAt = now, error } = run;
  switch (status) {
    case 'running': {
      const ms = now - startedAt;
      const time = ms < 60_000 ? '' : ` ${age(ms)}`;
      return `${phaseOf(run).toLowerCase()}${time}${troubles(run)}`;
    }
    case 'done':
      return `done after ${duration(endedAt - startedAt)}`;
    case 'interrupted':
      return `interrupted after ${duration(endedAt - startedAt)}`;
    case 'failed':
      if (error === KILLED) return `killed after ${duration(endedAt - startedAt)}`;
      return `failed after ${duration(endedAt - startedAt)}${error === undefined ? '' : `: ${lastLineOf(error)}`}`;
  }
}

function ownerOf({ request }: BackgroundFacts, thisWindow: string): string {
  const { ownerId = thisWindow, ownerName } = request;
  if (ownerId === thisWindow) return 'This window';
  return ownerName ?? ownerInWords({ id: ownerId, kind: 'explicit' }, thisWindow);
}

/** A shape of its own for each state, since not everybody sees colours. */
function iconOf({ status, unheeded, silence }: BackgroundFacts): RowIcon {
  if (silence) return notResponding;
  switch (status) {
    case 'running':
      return unheeded
        ? { name: 'bell-dot', color: 'charts.orange' }
        : { name: 'sync~spin', color: 'charts.blue' };
    case 'done':
      return { name: 'pass', color: 'testing.iconPassed' };
    case 'failed':
      return { name: 'error', color: 'problemsErrorIcon.foreground' };
    case 'interrupted':
      return { name: 'circle-slash' };
  }
}

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** Of a traceback: what it comes down to. */
function lastLineOf(text: string): string {
  return text.replace(COLOURS, '').trimEnd().split('\n').at(-1)?.trim() ?? '';
}
