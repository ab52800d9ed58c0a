import type { FileChange, FileState } from './baseline';

/** What one capture may keep of the texts of what changed. */
export class TextRoom {
  private left: number;
  private count = 0;

  constructor(bytes: number) {
    this.left = bytes;
  }

  /** Files whose text did not fit. */
  get leftOut(): number {
    return this.count;
  }

  /** Without both texts where they don't fit: one side alone is nothing to compare. */
  fit(change: FileChange): FileChange {
    const bytes = textBytesOf(change);
    if (bytes > this.left) {
      this.count++;
      return { ...change, before: bare(change.before), after: bare(change.after) };
    }
    this.left -= bytes;
    return change;
  }
}

export function textBytesOf({ before, after }: FileChange): number {
  return (before?.text?.byteLength ?? 0) + (after?.text?.byteLength ?? 0);
}

function bare(state: FileState | undefined): FileState | undefined {
  return state && { ...state, text: undefined };
}
