import { duration } from '../sessions/words';
import type { RunCodeInput } from './input';
import { fenced, plain } from './markdown';

export interface Confirmation {
  readonly title: string;
  /** Markdown. */
  readonly message: string;
}

interface Asked extends Pick<RunCodeInput, 'code' | 'waitMs' | 'timeoutMs'> {
  /** Its id, which editors colour code by, and its name. */
  readonly language: { readonly id: string; readonly name: string };
  readonly session: string;
  /** Whoever holds the session, for people; empty: it starts with this run. */
  readonly holders: readonly string[];
  /** The session that would be meant by now, had the same call not been asked about before. */
  readonly meantNow?: string | undefined;
}

/** What a person reads before code of a model runs: all of the code, where it runs, and for how long. */
export function confirmationOf(asked: Asked): Confirmation {
  const { code, language, session, holders, meantNow } = asked;
  const held =
    holders.length === 0 ? 'a new session' : `a session held by ${plain(holders.join(', '))}`;
  return {
    title: `Run this ${language.name} in the session ${oneLine(session)}?`,
    message: [
      fenced(code, language.id),
      ...(hasHidden.test(code)
        ? ['**The code has invisible characters, which may make it look like other code.**']
        : []),
      `It runs in **${plain(session)}**, ${held}. ${limitsOf(asked)}`,
      ...(meantNow === undefined
        ? []
        : [
            `The same code was asked about for that session before; by now **${plain(meantNow)}** would be meant.`,
          ]),
    ].join('\n'),
  };
}

/** Marks that turn the direction of text, characters without width, and control characters. */
const hasHidden = /\p{Default_Ignorable_Code_Point}|(?![\t\r\n])\p{Cc}/u;

function limitsOf({ waitMs, timeoutMs }: Pick<Asked, 'waitMs' | 'timeoutMs'>): string {
  const end =
    timeoutMs === undefined
      ? 'It may take as long as it needs'
      : `It is stopped after ${duration(Math.max(1_000, timeoutMs))}`;
  return `${end}; the chat waits up to ${duration(waitMs)} for it.`;
}

/** A title is Markdown in some editors, and plain in others: neither may be led astray. */
function oneLine(name: string): string {
  return `“${name.replace(/[\s\p{C}]+/gu, ' ').replace(/[[\]()<>`*_$\\]/g, '')}”`;
}
