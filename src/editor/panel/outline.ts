import type { RunHead } from '../../webview/protocol';

/** A run or a note as it stands in a session's transcript, without output. Times are ms since the epoch. */
export type OutlineEntry = OutlinedRun | OutlinedNote;

interface Outlined {
  /** Names it, and orders all that is shown, also of windows that follow each other: about when it came. */
  readonly place: number;
  readonly sessionKey: string;
  readonly sessionLabel: string;
}

export interface OutlinedRun extends Outlined {
  readonly kind: 'run';
  readonly executionId: string;
  readonly head: RunHead;
}

interface OutlinedNote extends Outlined {
  readonly kind: 'note';
  readonly text: string;
  readonly at: number;
}

export interface OutlineChange {
  readonly place: number;
  /** Undefined: it is no longer shown. */
  readonly entry: OutlineEntry | undefined;
}

export const isOverIn = ({ state }: Pick<RunHead, 'state'>): boolean =>
  state !== 'queued' && state !== 'running';
