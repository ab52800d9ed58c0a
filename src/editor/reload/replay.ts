import type { CodeSource, ExecutionReply } from '../../kernel/execution';
import type { Language } from '../../kernel/language';
import type { KernelOutput } from '../../kernel/output';
import { isOverIn, type OutlineEntry } from '../panel/outline';
import type { Transcript } from '../panel/transcript';
import { isPreludeRun } from '../python/runPrelude';

/** What happened in a session, as the kernel host tells it. */
export type PastEvent =
  | {
      readonly what: 'begun';
      readonly execution: string;
      readonly at: number;
      readonly code: string;
      readonly source?: CodeSource;
    }
  | { readonly what: 'output'; readonly execution: string | null; readonly output: KernelOutput }
  | {
      readonly what: 'finished';
      readonly execution: string;
      readonly at: number;
      readonly reply: ExecutionReply;
    };

interface ReplayedSession {
  readonly key: string;
  readonly label: string;
  readonly language: Language;
  /** Runs whose output and end come with them: of them only the beginning is shown. */
  readonly resumed: ReadonlySet<string>;
  /** What the window before has shown, in order. Empty where that is not known: then there are no notes and remarks. */
  readonly outline: readonly OutlineEntry[];
}

/**
 * Shows again what a session has shown before: runs and notes as the window before showed them and in their order, with
 * the output that the kernel host has of them. How a run ended is told by the host where that window did not see it. Looks
 * that the editor takes for itself at a kernel are nobody's runs.
 */
export function replay(
  transcript: Transcript,
  session: ReplayedSession,
  events: readonly PastEvent[],
): void {
  const { key, label, language, resumed } = session;
  const ahead = [...session.outline];
  const known = new Map(
    ahead.flatMap((entry) => (entry.kind === 'run' ? [[entry.executionId, entry] as const] : [])),
  );
  const showUpTo = (place: number): void => {
    while (ahead[0] !== undefined && ahead[0].place <= place) {
      const [entry] = ahead.splice(0, 1);
      if (entry) transcript.restore(entry);
    }
  };
  const shown = new Set<string>();
  for (const event of events) {
    const { execution } = event;
    // What stood there before is what output of no run comes after.
    if (event.what !== 'output') showUpTo(event.at);
    switch (event.what) {
      case 'begun': {
        const { at, code, source } = event;
        if (isInternal(event.execution)) break;
        shown.add(event.execution);
        const run = known.get(event.execution);
        if (run) showUpTo(run.place);
        else {
          transcript.begin({
            executionId: event.execution,
            sessionKey: key,
            sessionLabel: label,
            code,
            language,
            owner: null,
            queuedAt: at,
            ...(source && { source }),
          });
        }
        if (!run || run.head.state === 'queued') transcript.started(event.execution, at);
        break;
      }
      case 'output':
        if (execution === null || isPreludeRun(execution)) {
          if (event.output.type !== 'result') transcript.sessionOutput(key, event.output);
        } else if (shown.has(execution) && !resumed.has(execution)) {
          transcript.output(execution, event.output);
        }
        break;
      case 'finished': {
        const run = known.get(event.execution);
        if (resumed.has(event.execution) || (run && isOverIn(run.head))) break;
        transcript.finished(event.execution, { at: event.at, result: endOf(event.reply) });
      }
    }
  }
  showUpTo(Infinity);
}

export function endOf({ cancelled, status }: ExecutionReply): {
  cancelled: boolean;
  exitCode: number | undefined;
} {
  if (cancelled) return { cancelled, exitCode: undefined };
  return { cancelled, exitCode: status === 'ok' ? 0 : 1 };
}

function isInternal(execution: string): boolean {
  return isPreludeRun(execution) || execution.startsWith('helpers:');
}
