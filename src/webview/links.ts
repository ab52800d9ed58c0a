/** Where a link in output goes. */
type LinkTarget =
  | { readonly kind: 'web'; readonly address: string }
  | { readonly kind: 'file'; readonly file: string; readonly line: number };

/** The target of a hyperlink that output names (OSC 8). Undefined: it is not one that we follow. */
export function linkTarget(address: string): LinkTarget | undefined {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return undefined;
  }
  if (['http:', 'https:', 'mailto:'].includes(url.protocol))
    return { kind: 'web', address: url.href };
  if (url.protocol !== 'file:') return undefined;
  const line = /^#L?(\d+)/.exec(url.hash)?.[1];
  const path = decode(url.pathname);
  if (path === undefined) return undefined;
  // `file:///C:/x` has the path `/C:/x`.
  const file = /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path;
  return { kind: 'file', file, line: Number(line ?? 1) };
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

interface TextPart {
  readonly text: string;
  readonly target?: { readonly file: string; readonly line: number };
}

const PLACE = /File "([^"<\n][^"\n]*)", line (\d+)/g;

/** Splits the text of a traceback at the places in files that it names. */
export function places(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const match of text.matchAll(PLACE)) {
    const [place, file = '', line] = match;
    if (match.index > at) parts.push({ text: text.slice(at, match.index) });
    parts.push({ text: place, target: { file, line: Number(line) } });
    at = match.index + place.length;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}
