import type { MimeBundle } from '../../kernel/output';
import { shownMimeTypes } from '../../webview/protocol';

const isJson = (type: string): boolean => type.endsWith('+json');

/**
 * The parts of a bundle that the panel will draw: the richest that it knows, and the plain text. The others never
 * travel: a bundle often repeats a large picture or table in several forms.
 */
export function shownParts(data: MimeBundle): Record<string, unknown> {
  const richest =
    shownMimeTypes.find((type) => type in data) ?? Object.keys(data).find(isJson) ?? undefined;
  const parts: Record<string, unknown> = {};
  if (richest !== undefined) parts[isJson(richest) ? 'application/json' : richest] = data[richest];
  if ('text/plain' in data) parts['text/plain'] = data['text/plain'];
  return parts;
}
