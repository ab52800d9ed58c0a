import type { ShownEnd } from './messages';
import type { Code } from './codes';
import type { Trace } from './traces';

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
  /** The process id of the window that told of it first. */
  readonly toldBy: number;
  /** Nothing had happened to it, and a later window showed it. */
  hasOutlivedWindow?: true;
  fate: Fate;
  /** When something was first done to it that it may die of, ms since the epoch. */
  touchedAt?: number;
  /** It is stopped since then. */
  stoppedAt?: number | undefined;
  /** Its host or its window may have been kept from telling what it printed. */
  isUnheard?: true;
}

export interface Run {
  readonly id: string;
  readonly slot: string;
  readonly session: string;
  readonly code: Code;
  /** That runs it, once that is known. */
  kernel?: Kernel;
  end?: ShownEnd;
  /** The window that it was given to has told of it, with a kernel host that lived: since then it is not forgotten. */
  knownAt?: number;
  wasInterrupted?: true;
  /** Something was done to its session while it waited or ran. */
  mayFail?: true;
  /** Its end may be shown nowhere: whoever knew of it was killed. */
  mayVanish?: true;
}

/** What a kernel printed is on its way for so long at most, on a machine that is busy with others. */
const ON_ITS_WAY_MS = 2_000;

/** What a thread prints after the end is shown after it: a later window, which looks later, shows as much or more. */
function isSameEnd(first: ShownEnd, later: ShownEnd, isPrintedAside: boolean): boolean {
  if (!isPrintedAside || later.lines.length === first.lines.length)
    return JSON.stringify(first) === JSON.stringify(later);
  const isLonger = first.lines.every((line, index) => line === later.lines[index]);
  return first.state === later.state && isLonger;
}

/** What is wrong with what the panel shows of a run that is over; undefined: nothing. */
export function complaintAbout(run: Run, end: ShownEnd, trace: Trace): string | undefined {
  const { code } = run;
  const { state, lines, strange } = end;
  if (run.end && !isSameEnd(run.end, end, code.isPrintedAside)) {
    return `was shown as ${brief(run.end)}, and later as ${brief(end)}`;
  }
  const wrong = lines.findIndex((line, index) => line !== index);
  if (wrong !== -1) return `line ${lines[wrong]} stands where ${wrong} should: ${brief(end)}`;
  if (strange !== null && (state === 'ok' || strange === '(a gap)')) return `shows “${strange}”`;
  if (state === 'ok' && code.ends !== 'ok') return `ended well, and cannot: ${code.name}`;
  if (state === 'error' && code.ends !== 'error') return `has failed, and cannot: ${code.name}`;
  if ((state === 'ok' || state === 'error') && trace.pids.length === 0) {
    return `is ${state}, and was never begun`;
  }
  if ((state === 'ok' || state === 'error') && lines.length !== code.lines) {
    return `shows ${lines.length} of ${code.lines} lines, and is ${state}`;
  }
  if (lines.length > code.lines) return `shows ${lines.length} of ${code.lines} lines`;
  if (state !== code.ends && !isDisturbed(run)) {
    return `(${code.name}) is over, and nobody had disturbed it: ${brief(end)}`;
  }
  const least = linesToShow(run, trace);
  if (lines.length < least) return `shows ${lines.length} of ${least} lines that it had printed`;
  return undefined;
}

function isDisturbed({ wasInterrupted, mayFail, kernel }: Run): boolean {
  return (
    wasInterrupted === true || mayFail === true || (kernel !== undefined && kernel.fate !== 'lives')
  );
}

/** How many of the lines that it printed cannot have been lost with whoever was killed. */
function linesToShow({ code, kernel }: Run, { printedAt }: Trace): number {
  // A thread that its run does not wait for any more goes on printing.
  if (!kernel || kernel.isUnheard || code.isPrintedAside) return 0;
  const { touchedAt, fate } = kernel;
  if (touchedAt !== undefined) {
    return printedAt.filter((at) => at < touchedAt - ON_ITS_WAY_MS).length;
  }
  return fate === 'may' ? 0 : printedAt.length;
}

export function brief({ state, lines, strange }: ShownEnd): string {
  return `${state}, ${lines.length} lines${strange === null ? '' : `, “${strange}”`}`;
}
