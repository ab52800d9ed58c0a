import type { RunState } from '../../src/webview/protocol';

/** What a window of the chaos test is, in its first argument. */
export interface Assignment {
  readonly hostScript: string;
  readonly runnersDir: string;
  readonly workspace: string;
  /** Working directory of its sessions; its log goes there too. */
  readonly folder: string;
  readonly interpreter: string;
  readonly graceMs: number;
  readonly capacity: number;
}

/** A line to a window. The end of its stdin asks it to leave as on a reload or a close. */
export type Command =
  | { readonly do: 'run'; readonly run: string; readonly session: string; readonly code: string }
  /** To the session with that snapshot id, only while its kernel still is that process. */
  | {
      readonly do: 'interrupt' | 'restart' | 'stop' | 'kill' | 'release';
      readonly id: string;
      readonly pid: number;
    };

export interface SeenSession {
  readonly id: string;
  readonly sessionId: string;
  readonly state: string;
  readonly pid: number | null;
  readonly execution: string | null;
  readonly queue: readonly string[];
}

/** A line from a window. */
export type Report =
  /** It has taken the place of the window before it. */
  | { readonly what: 'claimed'; readonly hostPid: number }
  /** Its pool is there. */
  | { readonly what: 'ready' }
  | {
      readonly what: 'sessions';
      readonly hostPid: number | null;
      readonly sessions: readonly SeenSession[];
    }
  /** A run is over, here or, as a replay shows it, in an earlier window. */
  | {
      readonly what: 'finished';
      readonly run: string;
      readonly end: ShownEnd;
      readonly told: ToldEnd;
    }
  | { readonly what: 'notTakenUp'; readonly why: string };

/** What the panel shows of a run that is over. */
export interface ShownEnd {
  readonly state: RunState;
  /** The numbers of its lines, as they stand there. */
  readonly lines: readonly number[];
  /** The first line that is none of its own; also a torn one, and a gap. */
  readonly strange: string | null;
}

/** What the panel was told of it, so that an end which cannot be explains itself. */
export interface ToldEnd {
  /** As of a run of an earlier window that is not followed here. */
  readonly isReplayed: boolean;
  readonly cancelled: boolean | null;
  readonly exitCode: number | null;
  /** What the panel says below the output. */
  readonly remark: string | null;
}
