import type { Row } from './row';

/** The whole tree has to be read again. */
const EVERYTHING = undefined;

/** The rows that a view shows, and which of them it has to draw again when they are replaced by others. */
export class RowTree {
  private rows = new Map<string, Row>();
  private parents = new Map<string, string>();
  top: readonly string[] = [];

  get(id: string): Row | undefined {
    return this.rows.get(id);
  }

  parentOf(id: string): string | undefined {
    return this.parents.get(id);
  }

  /** Answers the ids of the rows that differ; a row stands for those below it too, `undefined` for all. */
  replace(rows: readonly Row[]): readonly (string | undefined)[] {
    const before = this.rows;
    const wasTop = this.top;
    this.rows = new Map(rows.flatMap((row) => [row, ...row.children]).map((row) => [row.id, row]));
    this.parents = new Map(rows.flatMap((row) => row.children.map((child) => [child.id, row.id])));
    this.top = rows.map((row) => row.id);
    if (wasTop.join('\n') !== this.top.join('\n')) return [EVERYTHING];
    return rows.flatMap((row) => changedRows(before.get(row.id), row));
  }
}

function changedRows(before: Row | undefined, now: Row): readonly string[] {
  if (!before || idsOf(before.children) !== idsOf(now.children) || !sameRow(before, now))
    return [now.id];
  return now.children.filter((row, at) => !sameRow(before.children[at], row)).map(({ id }) => id);
}

function idsOf(rows: readonly Row[]): string {
  return rows.map(({ id }) => id).join('\n');
}

function sameRow(before: Row | undefined, now: Row): boolean {
  return JSON.stringify({ ...before, children: [] }) === JSON.stringify({ ...now, children: [] });
}
