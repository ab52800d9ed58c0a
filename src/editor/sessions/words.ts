import type { Silence, StopProgress } from '../../kernel/kernel';
import type { SessionSnapshot } from '../../pool/types';

/** How long something has lasted, for people: "3 s", "2 min 5 s", "1 h 4 min". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * How old something is, to the minute. For rows that a person points at: one that changes each second is drawn anew each
 * second, which takes its tooltip and its buttons away from under the pointer.
 */
export function age(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'under 1 min';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24
    ? `${hours} h ${minutes % 60} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** What is told of a session in a few words. */
type Doing = Pick<SessionSnapshot, 'state' | 'silence'>;

/** What a session is doing, in a few words. */
export function stateInWords(session: Doing, now: number): string {
  const { state, silence } = session;
  const unheeded = state.kind === 'busy' && state.execution.unheeded === true;
  switch (state.kind) {
    case 'starting':
      return 'starting';
    case 'idle':
      return silence ? `not responding for ${duration(now - silence.since)}` : 'idle';
    case 'busy':
      return `running ${duration(now - state.since)}${troubles({ unheeded, silence })}`;
    case 'stopping':
      return [
        state.startsAnew ? 'restarting' : 'stopping',
        ...(state.progress ? [stepInWords(state.progress.step)] : []),
      ].join(': ');
    case 'stopUnconfirmed':
      return 'stop not confirmed';
    case 'dead':
      return 'ended';
  }
}

/** The same for a row that a person points at: without the seconds. */
export function stateAtRest(session: Doing, now: number): string {
  const { state, silence } = session;
  if (state.kind === 'idle' && silence) return 'not responding';
  if (state.kind !== 'busy') return stateInWords(session, now);
  const ms = now - state.since;
  const time = ms < 60_000 ? '' : ` ${age(ms)}`;
  const unheeded = state.execution.unheeded === true;
  return `running${time}${troubles({ unheeded, silence })}`;
}

/** What is wrong with something that runs, behind the rest. */
export function troubles(of: {
  readonly unheeded?: boolean;
  readonly silence?: Silence | undefined;
}): string {
  return `${of.unheeded ? ', interrupt not heeded' : ''}${of.silence ? ', not responding' : ''}`;
}

/** A step of a stop, as it is being taken. */
export function stepInWords(step: StopProgress['step']): string {
  switch (step) {
    case 'ask':
      return 'asked to leave';
    case 'interrupt':
      return 'interrupted';
    case 'terminate':
      return 'sent SIGTERM';
    case 'kill':
      return 'sent SIGKILL';
    case 'sweep':
      return 'sweeping its children';
  }
}

/** "Python 3.11.7" of "Python 3.11.7 (/usr/bin/python3)"; before it is known, just the language. */
export function languageInWords({ description }: Pick<SessionSnapshot, 'description'>): string {
  return description?.replace(/\s*\(.*\)\s*$/s, '') || 'Python';
}

/** The path in "Python 3.11.7 (/usr/bin/python3)". */
export function programOf(
  session: Pick<SessionSnapshot, 'description' | 'interpreter'>,
): string | undefined {
  return /\((.*)\)\s*$/s.exec(session.description ?? '')?.[1] ?? session.interpreter;
}

export function bytesInWords(bytes: number): string {
  return bytes < 2 ** 30
    ? `${Math.round(bytes / 2 ** 20)} MB`
    : `${(bytes / 2 ** 30).toFixed(1)} GB`;
}

/** "1 kernel", "3 kernels". */
export function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? '' : 's'}`;
}
