import { Statements } from './statements';

interface Position {
  readonly line: number;
  readonly character: number;
}

/** A selection with `start` before `end`; empty where a cursor only stands. Lines and characters are 0-based. */
export interface TextRange {
  readonly start: Position;
  readonly end: Position;
}

export interface PickedCode {
  readonly code: string;
  /** 1-based line of the code's first line in the document. */
  readonly line: number;
  /** 0-based line to go on with: the next statement, else an empty line below; undefined at the end of the document. */
  readonly advanceTo: number | undefined;
}

/** A piece of a document, 0-based lines. */
interface Piece {
  readonly text: string;
  readonly first: number;
  readonly last: number;
}

/**
 * What is sent for the selections of an editor: selected text as it is, the whole statement for a bare cursor, several in
 * document order. Undefined where there is nothing to run. Code is never dedented, since that would change the bytes of
 * strings over several lines: the runner takes indented code.
 */
export function pickCode(
  lines: readonly string[],
  selections: readonly TextRange[],
): PickedCode | undefined {
  const inOrder = [...selections].sort((a, b) => comparePositions(a.start, b.start));
  const statements = new Statements(lines);
  const pieces: Piece[] = [];
  for (const selection of inOrder) {
    const piece = selected(lines, selection) ?? statementAt(lines, statements, selection.end.line);
    const before = pieces.at(-1);
    const again = before?.first === piece?.first && before?.last === piece?.last;
    if (piece && !(again && isEmpty(selection))) pieces.push(piece);
  }
  const [first] = pieces;
  const last = pieces.at(-1);
  if (!first || !last) return undefined;
  const below = last.last + 1;
  const advanceTo =
    statements.after(last.last)?.first ?? (below < lines.length ? below : undefined);
  return { code: joined(pieces), line: first.first + 1, advanceTo };
}

/** The whole document, without blank lines around it. */
export function pickDocument(lines: readonly string[]): PickedCode | undefined {
  const end = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  const piece = selected(lines, { start: { line: 0, character: 0 }, end });
  return piece && { code: piece.text, line: piece.first + 1, advanceTo: undefined };
}

function selected(lines: readonly string[], { start, end }: TextRange): Piece | undefined {
  const texts = lines.slice(start.line, end.line + 1);
  if (texts.length === 0) return undefined;
  const severalLines = end.line > start.line;
  texts[texts.length - 1] = (texts.at(-1) ?? '').slice(0, end.character);
  texts[0] = firstLine(texts[0] ?? '', start.character, severalLines);
  let first = start.line;
  let last = end.line;
  while (texts.length > 0 && isBlank(texts[0])) {
    texts.shift();
    first++;
  }
  while (texts.length > 0 && isBlank(texts.at(-1))) {
    texts.pop();
    last--;
  }
  return texts.length > 0 ? { text: texts.join('\n'), first, last } : undefined;
}

// The lines below keep their indentation, so the first one needs its own, wherever in it the selection began.
function firstLine(line: string, from: number, severalLines: boolean): string {
  if (!severalLines) return line.slice(from);
  const indentation = /^[ \t]*/.exec(line)?.[0] ?? '';
  return from <= indentation.length ? line : indentation + line.slice(from).trimStart();
}

function statementAt(
  lines: readonly string[],
  statements: Statements,
  line: number,
): Piece | undefined {
  const statement = statements.at(line);
  if (!statement) return undefined;
  const text = lines.slice(statement.first, statement.last + 1).join('\n');
  return { text, first: statement.first, last: statement.last };
}

/** Joins pieces with as many line ends as lie between them in the document, so that tracebacks name the right lines. */
function joined(pieces: readonly Piece[]): string {
  let code = '';
  let line = pieces[0]?.first ?? 0;
  for (const piece of pieces) {
    if (code !== '') code += '\n'.repeat(Math.max(1, piece.first - line));
    code += piece.text;
    line = piece.last;
  }
  return code;
}

function isEmpty({ start, end }: TextRange): boolean {
  return comparePositions(start, end) === 0;
}

function isBlank(text: string | undefined): boolean {
  return (text ?? '').trim() === '';
}

function comparePositions(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}
