import { messageOf } from '../../base/errors';
import type { ExecutionResult } from '../../pool/types';
import { count, duration } from '../sessions/words';
import type { AgentRun, AgentRunState } from './agentRuns';
import { asRead, type OutputPage, type OutputText } from './outputText';

/** Text that one answer gives a model at most, in characters: some five thousand tokens. */
const LONGEST_ANSWER = 20_000;
const SHORTEST_ANSWER = 500;
/** What a model says that it can take is in tokens. */
const CHARACTERS_PER_TOKEN = 3;
/** Where beginning and end of an output are shown, the end matters more: errors are there. */
const SHARE_OF_BEGINNING = 1 / 4;

/** Characters of output that one answer may have. `maxOutputBytes`: the setting. */
export function answerLimit(maxOutputBytes: number, tokenBudget: number | undefined): number {
  const budget = tokenBudget === undefined ? LONGEST_ANSWER : tokenBudget * CHARACTERS_PER_TOKEN;
  const limit = Math.min(LONGEST_ANSWER, maxOutputBytes, Math.floor(budget));
  return Math.max(SHORTEST_ANSWER, limit);
}

interface ReportOptions {
  /** Characters of output at most. */
  readonly limit: number;
  /** ms since the epoch. */
  readonly now: number;
}

/**
 * What a model is told of a run: how it is, what Holdfast has to say, and what was put out since it was last told, of a
 * lot of it the beginning and the end. Counts what it shows as given.
 */
export function reportOf(run: AgentRun, { limit, now }: ReportOptions): string {
  const pages = excerpt(run.output, run.given, limit);
  return compose(run, now, pages);
}

/** The same with the output from a position on, as much of it as fits; a negative position counts from the end. */
export function pageOf(
  run: AgentRun,
  { from, limit, now }: ReportOptions & { readonly from: number },
): string {
  const page = run.output.page(from, limit);
  const rest = run.output.length - page.to;
  const more = rest > 0 ? [`[${count(rest, 'character')} more from ${page.to} on]`] : [];
  return compose(run, now, [page], more);
}

function compose(
  run: AgentRun,
  now: number,
  pages: readonly OutputPage[],
  more: readonly string[] = [],
): string {
  const { state } = run;
  const lines = [statusOf(state, now), ...notesOf(state)];
  const shown: string[] = [];
  let at = pages[0]?.from ?? 0;
  for (const { text, from, to } of pages) {
    if (from > at) shown.push(leftOut(at, from));
    if (text !== '') shown.push(asRead(text).replace(/\n$/, ''));
    at = to;
  }
  run.given = Math.max(run.given, at);
  const [first] = pages;
  const position = first && first.from > 0 ? `, from character ${first.from} on` : '';
  if (shown.length === 0) lines.push(first && first.from > 0 ? 'No new output.' : 'No output.');
  else lines.push(`Output${position}:`, ...shown, ...more);
  if (state.kind === 'running' || state.kind === 'waiting') lines.push('', howToGoOn(run.handle));
  else if (more.length > 0 || pages.length > 1) lines.push('', `Its handle is "${run.handle}".`);
  return lines.join('\n');
}

/** What is new, whole or as its beginning and its end. */
function excerpt(output: OutputText, from: number, limit: number): OutputPage[] {
  const whole = output.page(from, limit);
  if (whole.to === output.length) return [whole];
  const beginning = output.page(from, Math.floor(limit * SHARE_OF_BEGINNING));
  const end = output.tail(beginning.to, limit - beginning.text.length);
  return [beginning, end];
}

function leftOut(from: number, to: number): string {
  return `[characters ${from} to ${to} are left out here: holdfast_read_output reads them with "from": ${from}]`;
}

function howToGoOn(handle: string): string {
  return (
    `It goes on. Its handle is "${handle}": holdfast_read_output reads on, and waits for its end when it is given ` +
    'waitSeconds. Code that is sent to the same session meanwhile waits in line behind it.'
  );
}

function statusOf(state: AgentRunState, now: number): string {
  switch (state.kind) {
    case 'waiting':
      if (state.forSlot) {
        return 'Not started yet: all kernel slots are taken by sessions that are in use. A person can free one in the Sessions view.';
      }
      return state.ahead > 0
        ? `Not started yet: ${count(state.ahead, 'run')} of the session before it.`
        : 'Not started yet: its session is getting ready.';
    case 'running':
      return `Still running, for ${time(now - state.startedAt)}.${questionOf(state.asks)}`;
    case 'ended':
      return endOf(state.result, time(state.elapsedMs));
    case 'failed':
      return `Not run: ${messageOf(state.error)}`;
  }
}

function questionOf(prompt: string | undefined): string {
  if (prompt === undefined) return '';
  const question = prompt.trim() === '' ? '' : ` (${JSON.stringify(prompt.trim().slice(0, 200))})`;
  return ` It asks for input${question}, which a person gives in the Holdfast panel.`;
}

function endOf({ exitCode, cancelled }: ExecutionResult, after: string): string {
  if (cancelled) return `Cancelled after ${after}.`;
  return exitCode === 0
    ? `Done after ${after}, exit code 0.`
    : `Ended with an error after ${after}, exit code ${exitCode ?? 'unknown'}.`;
}

function notesOf(state: AgentRunState): string[] {
  if (state.kind !== 'ended') return [];
  return (state.result.notes ?? []).map((note) => `Note: ${note}`);
}

function time(ms: number): string {
  return ms < 60_000 ? `${(Math.max(0, ms) / 1_000).toFixed(1)} s` : duration(ms);
}
