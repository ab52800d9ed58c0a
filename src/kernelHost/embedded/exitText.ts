import os from 'node:os';
import type { KernelExit } from '../../kernel/kernel';
import type { ExitStatus } from '../process/spawn';

const NEXT = 'Its variables are lost; the next run starts a new kernel.';

/** What is known of an exit beside its status. */
interface ExitCircumstances {
  readonly status: ExitStatus;
  /** What it last wrote on descriptor 2. */
  readonly stderr: string;
  /** We ended it: as asked, or because a run did not heed its interrupt. */
  readonly stopped: false | 'asked' | 'unheeded';
  /** Why we had to end it, where its runner broke the rules. */
  readonly failure: string | undefined;
}

/** An exit in words: what happened, what is known of why, and what comes next. */
export function describeExit({ status, stderr, stopped, failure }: ExitCircumstances): KernelExit {
  const signal = status.signal ?? signalOfWrapper(status.code);
  const rest = { ...status, stderrTail: lastLines(stderr) };
  if (failure !== undefined) {
    return { ...rest, summary: `The kernel had to be stopped: ${sentence(failure)} ${NEXT}` };
  }
  if (stopped === 'asked') return { ...rest, summary: 'The kernel was stopped.' };
  if (stopped === 'unheeded') {
    return { ...rest, summary: `The kernel was killed: a run did not heed its interrupt. ${NEXT}` };
  }
  if (signal !== null) {
    return { ...rest, summary: `The kernel ${deathBy(signal)}${crashSite(stderr)}. ${NEXT}` };
  }
  const how = status.code === 0 ? 'ended by itself' : `ended by itself with code ${status.code}`;
  return { ...rest, summary: `The kernel ${how}. ${NEXT}` };
}

/** Last lines of a stderr, 2,000 characters at most. As many as a native crash prints with a stack of usual depth. */
export function lastLines(stderr: string, count = 25): string {
  return stderr.trimEnd().split('\n').slice(-count).join('\n').slice(-2_000);
}

function deathBy(signal: string): string {
  switch (signal) {
    case 'SIGSEGV':
    case 'SIGBUS':
      return `crashed (${signal}, access to memory that is not its own), most often in a native extension`;
    case 'SIGABRT':
    case 'SIGILL':
    case 'SIGFPE':
    case 'SIGTRAP':
      return `crashed (${signal}), most often in a native extension`;
    case 'SIGKILL':
      return 'was killed (SIGKILL), perhaps because memory ran out, or by hand';
    default:
      return `was ended by ${signal}`;
  }
}

/** faulthandler prints the stack, the innermost frame first, as `  File "x.py", line 3 in f`. */
function crashSite(stderr: string): string {
  const [, file, line] = /^\s*File "([^"]+)", line (\d+)/m.exec(stderr) ?? [];
  return file === undefined ? '' : `; it stood at ${file}, line ${line}`;
}

/** A shell around the interpreter reports its child's signal as 128 + number. */
function signalOfWrapper(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  const number = code - 128;
  return Object.entries(os.constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
