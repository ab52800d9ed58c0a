/** Lets steps through in the order of their calls, where a step in between takes its time. */
export class CallOrder {
  private readonly last = new Map<string, Promise<void>>();

  /**
   * Takes a place behind all earlier ones of the same name. `reached` resolves when those are done; `done`
   * must be called, however the step ends.
   */
  enter(name: string): { readonly reached: Promise<void>; done(): void } {
    const reached = this.last.get(name) ?? Promise.resolve();
    let over!: () => void;
    const own = new Promise<void>((resolve) => (over = resolve));
    const mine = reached.then(() => own);
    this.last.set(name, mine);
    // Not before those ahead are done too: whoever comes next is behind them as well.
    void mine.then(() => {
      if (this.last.get(name) === mine) this.last.delete(name);
    });
    return { reached, done: over };
  }
}
