import { logicalLines, type LogicalLine } from './logicalLines';

/** A whole statement. Lines are 0-based and inclusive. */
interface Statement {
  readonly first: number;
  readonly last: number;
  /** The last line where a cursor means this statement, rather than one inside it. */
  readonly reach: number;
}

// Lines that go on with the compound statement above them instead of starting their own.
const CLAUSES = new Set(['elif', 'else', 'except', 'finally']);

const MAIN_GUARD = /^if\s*\(?\s*__name__\s*==\s*(['"])__main__\1\s*\)?\s*:\s*(?:#.*)?$/;

/**
 * What a person means by "the statement here" in a Python text, also in one that is half written: the top-level statement
 * around a line, with its decorators and all its clauses. Inside `if __name__ == '__main__':` it is the statement of that
 * block alone, because the whole block is what "Run File" is for.
 */
export class Statements {
  private readonly all: readonly Statement[];

  constructor(private readonly lines: readonly string[]) {
    this.all = this.runnable(logicalLines(lines));
  }

  /** The statement around a line; on a line between statements, the next one below. */
  at(line: number): Statement | undefined {
    let before: Statement | undefined;
    for (const statement of this.all) {
      if (statement.reach >= line) {
        return before && statement.first > line && this.closesBlock(before, line)
          ? before
          : statement;
      }
      before = statement;
    }
    return before && this.closesBlock(before, line) ? before : undefined;
  }

  /** The first statement that begins below a line. */
  after(line: number): Statement | undefined {
    return this.all.find((statement) => statement.first > line);
  }

  // In order. A main guard is followed by the statements of its block.
  private runnable(logical: readonly LogicalLine[]): Statement[] {
    const found: Statement[] = [];
    for (const group of grouped(logical)) {
      const head = group[0];
      const clause = group.findIndex((line) => line.indent <= (head?.indent ?? 0) && line !== head);
      const body = group.slice(1, clause < 0 ? undefined : clause);
      if (head && body.length > 0 && clause < 0 && this.isMainGuard(head)) {
        found.push({ ...spanOf(group), reach: head.last });
        found.push(...grouped(body).map(spanOf));
      } else {
        found.push(spanOf(group));
      }
    }
    return found;
  }

  private isMainGuard(head: LogicalLine): boolean {
    return head.indent === 0 && MAIN_GUARD.test((this.lines[head.first] ?? '').trim());
  }

  // An indented comment right below a block reads as a part of it.
  private closesBlock(block: Statement, line: number): boolean {
    if (block.first === block.last || !/^\s+#/.test(this.lines[line] ?? '')) return false;
    for (let between = block.last + 1; between < line; between++)
      if (!/^\s+#/.test(this.lines[between] ?? '')) return false;
    return true;
  }
}

/** Groups logical lines into statements at the depth of the first one. */
function grouped(logical: readonly LogicalLine[]): LogicalLine[][] {
  const groups: LogicalLine[][] = [];
  let decorated = false;
  let base = logical[0]?.indent ?? 0;
  for (const line of logical) {
    const group = groups.at(-1);
    base = Math.min(base, line.indent);
    if (group && (line.indent > base || CLAUSES.has(line.head) || decorated)) group.push(line);
    else groups.push([line]);
    if (line.indent <= base) decorated = line.head === '@';
  }
  return groups;
}

function spanOf(group: readonly LogicalLine[]): Statement {
  const last = group.at(-1)?.last ?? 0;
  return { first: group[0]?.first ?? 0, last, reach: last };
}
