import { pickCode, type PickedCode } from './pickCode';

/** A part of a Python file between `# %%` comments. Lines are 0-based. */
interface Cell {
  /** The line of its comment. */
  readonly marker: number;
  readonly last: number;
  /** What the comment says of it; may be empty. */
  readonly title: string;
}

const MARKER = /^\s*#\s*%%(.*)$/;
const NOT_CODE = /^\s*\[(?:markdown|md|raw)\]/i;

/** The cells that have code. What stands above the first comment is none. */
export function cellsOf(lines: readonly string[]): readonly Cell[] {
  const markers = lines.flatMap((line, at) => {
    const title = MARKER.exec(line)?.[1];
    return title === undefined ? [] : [{ at, title }];
  });
  return markers
    .map(({ at, title }, index) => ({
      marker: at,
      last: (markers[index + 1]?.at ?? lines.length) - 1,
      title: title.trim(),
    }))
    .filter(({ marker, last, title }) => !NOT_CODE.test(title) && hasCode(lines, marker + 1, last));
}

/** The cell around a line, 0-based, and its code. */
export function pickCell(
  lines: readonly string[],
  line: number,
): { readonly picked: PickedCode; readonly title: string } | undefined {
  const cell = cellsOf(lines).find(({ marker, last }) => marker <= line && line <= last);
  const picked =
    cell &&
    pickCode(lines, [
      {
        start: { line: cell.marker + 1, character: 0 },
        end: { line: cell.last, character: lines[cell.last]?.length ?? 0 },
      },
    ]);
  return cell && picked && { picked, title: cell.title };
}

function hasCode(lines: readonly string[], first: number, last: number): boolean {
  return lines.slice(first, last + 1).some((line) => line.trim() !== '');
}
