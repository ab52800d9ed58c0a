import type { CodeSource, ExecutionReply } from '../../kernel/execution';
import { languageOf } from '../../kernel/language';
import type { KernelOutput } from '../../kernel/output';
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
  readonly sessionId: string;
}

/**
 * Shows again what a session has shown before. Runs that are `resumed` only begin: their output and their end come with
 * them. Looks that the editor takes for itself at a kernel are nobody's runs.
 */
export function replay(
  transcript: Transcript,
  { key, label, sessionId }: ReplayedSession,
  events: readonly PastEvent[],
  resumed: ReadonlySet<string>,
): void {
  const shown = new Set<string>();
  for (const event of events) {
    const { execution } = event;
    switch (event.what) {
      case 'begun': {
        const { at, code, source } = event;
        if (isInternal(event.execution)) break;
        shown.add(event.execution);
        transcript.begin({
          executionId: event.execution,
          sessionKey: key,
          sessionLabel: label,
          code,
          language: languageOf(sessionId) ?? 'python',
          owner: null,
          queuedAt: at,
          ...(source && { source }),
        });
        transcript.started(event.execution, at);
        break;
      }
      case 'output':
        if (execution === null || isPreludeRun(execution)) {
          if (event.output.type !== 'result') transcript.sessionOutput(key, event.output);
        } else if (shown.has(execution) && !resumed.has(execution)) {
          transcript.output(execution, event.output);
        }
        break;
      case 'finished':
        if (resumed.has(event.execution)) break;
        transcript.finished(event.execution, { at: event.at, result: endOf(event.reply) });
    }
  }
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
