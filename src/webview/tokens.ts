type TokenKind =
  'keyword' | 'definition' | 'constant' | 'string' | 'number' | 'comment' | 'decorator';

interface Token {
  readonly text: string;
  /** Undefined: drawn as it is. */
  readonly kind: TokenKind | undefined;
}

const words: Readonly<Record<'keyword' | 'definition' | 'constant', string>> = {
  keyword:
    'as assert async await break case continue del elif else except finally for from if import ' +
    'match pass raise return try while with yield',
  definition: 'and class def global in is lambda nonlocal not or',
  constant: 'True False None self cls',
};

const kindOfWord = new Map<string, TokenKind>(
  (['keyword', 'definition', 'constant'] as const).flatMap((kind) => {
    return words[kind].split(' ').map((word) => [word, kind] as const);
  }),
);

const PYTHON = new RegExp(
  [
    String.raw`(?<comment>#[^\n]*)`,
    String.raw`(?<string>(?:\b[rbfutRBFUT]{1,2})?(?:"""(?:\\[^]|(?!""")[^])*(?:"""|$)|'''(?:\\[^]|(?!''')[^])*(?:'''|$)|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?))`,
    String.raw`(?<decorator>(?<=^[ \t]*)@[\w.]+)`,
    String.raw`(?<number>\b(?:0[xXoObB][\da-fA-F_]+|\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?[jJ]?))`,
    String.raw`(?<word>[\p{L}_][\p{L}\p{N}_]*)`,
  ].join('|'),
  'gmu',
);

// Colour helps in what is read at a glance; a whole file is read in the editor.
const LONGEST_COLOURED = 50_000;

/** Splits code into stretches worth a colour. All the text is there, in order; other languages come as one stretch. */
export function tokens(code: string, language: string): Token[] {
  if (language !== 'python' || code.length > LONGEST_COLOURED)
    return [{ text: code, kind: undefined }];
  const result: Token[] = [];
  let at = 0;
  for (const match of code.matchAll(PYTHON)) {
    const kind = kindOf(match);
    if (kind === undefined) continue;
    if (match.index > at) result.push({ text: code.slice(at, match.index), kind: undefined });
    result.push({ text: match[0], kind });
    at = match.index + match[0].length;
  }
  if (at < code.length) result.push({ text: code.slice(at), kind: undefined });
  return result;
}

function kindOf(match: RegExpExecArray): TokenKind | undefined {
  const { comment, string, decorator, number, word } = match.groups ?? {};
  if (comment !== undefined) return 'comment';
  if (string !== undefined) return 'string';
  if (decorator !== undefined) return 'decorator';
  if (number !== undefined) return 'number';
  return word === undefined ? undefined : kindOfWord.get(word);
}
