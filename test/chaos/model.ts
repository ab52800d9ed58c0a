import type { ShownEnd } from './messages';
import type { Code } from './codes';

/** What is to become of a kernel, by what was done to it and its surroundings. */
export type Fate =
  /** Nothing has happened that it could die of. */
  | 'lives'
  /** Something has happened that it may survive or not. */
  | 'may'
  | 'ends';

export interface Kernel {
  readonly slot: string;
  readonly pid: number;
  readonly start: string;
  readonly nonce: string | undefined;
  readonly session: string;
  fate: Fate;
}

export interface Run {
  readonly id: string;
  readonly slot: string;
  readonly session: string;
  readonly code: Code;
  /** That runs it, once a window has told. */
  kernel?: Kernel;
  end?: ShownEnd;
  wasInterrupted?: true;
}

/** What is wrong with what the panel shows of a run that is over; undefined: nothing. */
export function complaintAbout(run: Run, end: ShownEnd): string | undefined {
  const { code } = run;
  const { state, lines, strange } = end;
  if (run.end && JSON.stringify(run.end) !== JSON.stringify(end)) {
    return `was shown as ${brief(run.end)}, and later as ${brief(end)}`;
  }
  const wrong = lines.findIndex((line, index) => line !== index);
  if (wrong !== -1) return `line ${lines[wrong]} stands where ${wrong} should: ${brief(end)}`;
  if (strange !== null && (state === 'ok' || strange === '(a gap)')) return `shows “${strange}”`;
  if (state === 'ok' && code.ends !== 'ok') return `ended well, and cannot: ${code.name}`;
  if (state === 'ok' && lines.length !== code.lines) {
    return `shows ${lines.length} of ${code.lines} lines, and ended well`;
  }
  if (lines.length > code.lines) return `shows ${lines.length} of ${code.lines} lines`;
  const isDisturbed = run.wasInterrupted === true || run.kernel?.fate !== 'lives';
  if (state !== 'ok' && code.ends === 'ok' && !isDisturbed) {
    return `failed, and nobody had disturbed it: ${brief(end)}`;
  }
  return undefined;
}

function brief({ state, lines, strange }: ShownEnd): string {
  return `${state}, ${lines.length} lines${strange === null ? '' : `, “${strange}”`}`;
}
