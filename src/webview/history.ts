const LONGEST = 200;

/** What was typed before, newest last, and where the person is in it. */
export class InputHistory {
  private index: number;
  private draft = '';

  constructor(private entries: string[]) {
    this.index = entries.length;
  }

  get all(): readonly string[] {
    return this.entries;
  }

  add(text: string): void {
    this.entries = [...this.entries.filter((entry) => entry !== text), text].slice(-LONGEST);
    this.index = this.entries.length;
    this.draft = '';
  }

  /** The entry before; `current` is kept for the way back. Undefined at the oldest. */
  previous(current: string): string | undefined {
    if (this.index === 0) return undefined;
    if (this.index === this.entries.length) this.draft = current;
    this.index -= 1;
    return this.entries[this.index];
  }

  /** The entry behind, at the end what was being typed. Undefined there. */
  next(): string | undefined {
    if (this.index === this.entries.length) return undefined;
    this.index += 1;
    return this.entries[this.index] ?? this.draft;
  }
}
