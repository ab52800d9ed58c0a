import type { Silence } from '../../kernel/kernel';
import { notResponding } from './icons';
import { leaf, type Row } from './row';
import { age, bytesInWords, duration } from './words';

/** What is known of a kernel beside what it runs, whoever it runs for. */
export interface KernelFacts {
  readonly pid?: number | undefined;
  /** Resident memory of its process tree, when it was last looked at. */
  readonly memoryBytes?: number | undefined;
  readonly isAboveMemoryCap?: boolean | undefined;
  readonly silence?: Silence | undefined;
}

export function silenceRows(id: string, { silence }: KernelFacts, now: number): Row[] {
  if (!silence) return [];
  return [
    leaf(`${id}/silence`, {
      label: 'Not responding',
      description: `for ${duration(now - silence.since)} · ${whySilent(silence)}`,
      icon: notResponding,
    }),
  ];
}

/** The same for a tooltip. */
export function silenceLine(silence: Silence): readonly [string, string] {
  const since = new Date(silence.since).toLocaleTimeString();
  return ['Not responding', `since ${since}: ${whySilent(silence)}`];
}

export function processRow(
  id: string,
  {
    pid,
    memoryBytes,
    isAboveMemoryCap,
    startedAt,
  }: KernelFacts & {
    /** ms since the epoch. */
    readonly startedAt: number;
  },
  now: number,
): Row[] {
  if (pid === undefined) return [];
  const memory = memoryBytes === undefined ? [] : [bytesInWords(memoryBytes)];
  const above = isAboveMemoryCap ? ['above the cap in the settings'] : [];
  return [
    leaf(`${id}/process`, {
      label: `Process ${pid}`,
      description: [...memory, ...above, `up ${age(now - startedAt)}`].join(' · '),
      icon: isAboveMemoryCap
        ? { name: 'flame', color: 'problemsWarningIcon.foreground' }
        : { name: 'server-process' },
    }),
  ];
}

/** The same for a tooltip. */
export function processLines({
  pid,
  memoryBytes,
}: KernelFacts): readonly (readonly [string, string])[] {
  return [
    ...(pid === undefined ? [] : [['Process', String(pid)] as const]),
    ...(memoryBytes === undefined ? [] : [['Memory', bytesInWords(memoryBytes)] as const]),
  ];
}

/** It may be alive all the same, and come back by itself. */
function whySilent({ of }: Silence): string {
  return of === 'kernel'
    ? 'native code may keep it busy, or it is suspended; Kill ends it'
    : 'the kernel host does not answer; Kill ends the kernel';
}
