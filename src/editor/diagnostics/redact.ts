import type { Variables } from '../../kernel/environment';
import { holdsPassword, looksSecret } from '../../kernel/sensitiveNames';

/** Shorter ones would be found in words that have nothing to do with them. */
const SHORTEST_SECRET = 6;

/** Takes out of any text what is nobody's business: secrets that the environment holds, and whose home it is. */
export type Redact = (text: string) => string;

export function redactor(home: string, ...environments: readonly Variables[]): Redact {
  const secrets = environments
    .flatMap((env) => Object.entries(env))
    .flatMap(([name, value = '']) => (looksSecret(name) || holdsPassword(value) ? [value] : []))
    .filter((value) => value.length >= SHORTEST_SECRET)
    // One may be a part of another.
    .sort((a, b) => b.length - a.length);
  const homes = home.length > 1 ? [home, home.replaceAll('\\', '/')] : [];
  return (text) => {
    let left = text;
    for (const secret of secrets) left = left.replaceAll(secret, '(secret)');
    for (const each of homes) left = left.replaceAll(each, '~');
    return left.replace(/([a-z][a-z\d+.-]*:\/\/)[^/\s@]+@/gi, '$1(secret)@');
  };
}

const LONGEST = 300;
/** After these words comes what a kernel or a program has written. */
const QUOTES_FOLLOW = /(?:It wrote:|bad frame:|The end of its log:).*$/s;

/** A message without what it quotes: code, output and values stand between quotes, in braces, or on lines of their own. */
export function withoutQuotes(message: string): string {
  const [first = ''] = message.replace(QUOTES_FOLLOW, '…').split('\n');
  return first
    .replace(/"(?!holdfast\.)[^"]*"|(?<!\w)'[^']*'|`[^`]*`|\{.*\}/g, '…')
    .slice(0, LONGEST);
}
