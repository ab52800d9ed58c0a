import { codeOf, HoldfastError, messageOf } from '../../base/errors';
import { withoutQuotes } from './redact';

const KEPT = 20;
const FRAMES = 6;

export interface RecentFailure {
  /** ms since the epoch. */
  readonly at: number;
  readonly text: string;
}

/** The last things that went wrong, without what they quote. */
export class RecentFailures {
  private readonly list: RecentFailure[] = [];

  add(error: unknown, at: number): void {
    this.list.push({ at, text: describe(error) });
    if (this.list.length > KEPT) this.list.shift();
  }

  all(): readonly RecentFailure[] {
    return this.list;
  }
}

function describe(error: unknown): string {
  if (error instanceof HoldfastError) return `${error.code}: ${withoutQuotes(messageOf(error))}`;
  // Nobody knows what a stranger's message holds; where it was thrown says as much.
  const name = error instanceof Error ? error.name : typeof error;
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
  const code = codeOf(error);
  return [
    code === undefined || !/^\w+$/.test(code) ? name : `${name} ${code}`,
    ...frames.slice(0, FRAMES).map((line) => `    ${line.trim()}`),
  ].join('\n');
}
