/** What each owner has yet to be told of the kernels it lost. */
export class IncarnationNews {
  private readonly byOwner = new Map<string, Map<string, string>>();

  /** The holders of a key's session lost its state. A later loss of the same key replaces the earlier one. */
  lost(key: string, holders: readonly string[], why: string): void {
    for (const ownerId of holders) {
      const known = this.byOwner.get(ownerId);
      if (known) known.set(key, why);
      else this.byOwner.set(ownerId, new Map([[key, why]]));
    }
  }

  /** The state was not lost after all. */
  retract(key: string, holders: readonly string[]): void {
    for (const ownerId of holders) this.remove(ownerId, key);
  }

  /** What to tell an owner; it is told once. */
  take(key: string, ownerId: string): readonly string[] {
    const why = this.byOwner.get(ownerId)?.get(key);
    if (why === undefined) return nothing;
    this.remove(ownerId, key);
    return [`[New kernel, earlier variables are gone: ${why}]`];
  }

  forgetOwner(ownerId: string): void {
    this.byOwner.delete(ownerId);
  }

  private remove(ownerId: string, key: string): void {
    const known = this.byOwner.get(ownerId);
    known?.delete(key);
    if (known?.size === 0) this.byOwner.delete(ownerId);
  }
}

const nothing: readonly string[] = [];
