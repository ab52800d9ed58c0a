interface News {
  /** Why earlier variables are gone. */
  readonly lost?: string;
  /** Where the code of another owner has gone. */
  readonly moved?: string;
}

/** What each owner has yet to be told of its sessions; of each kind the latest. */
export class IncarnationNews {
  private readonly byOwner = new Map<string, Map<string, News>>();

  /** The holders of a key's session lost its state. */
  lost(key: string, holders: readonly string[], why: string): void {
    for (const ownerId of holders) this.update(ownerId, key, () => ({ lost: why }));
  }

  /** The state was not lost after all. */
  retract(key: string, holders: readonly string[]): void {
    for (const ownerId of holders) {
      this.update(ownerId, key, ({ moved }) => (moved === undefined ? {} : { moved }));
    }
  }

  /** One owner's code changed the working directory of a session that others hold too. */
  moved(key: string, others: readonly string[], cwd: string, by: string): void {
    const moved = `The working directory is ${cwd} now: ${by} changed it.`;
    for (const ownerId of others) this.update(ownerId, key, (news) => ({ ...news, moved }));
  }

  /** What to tell an owner; it is told once. */
  take(key: string, ownerId: string): readonly string[] {
    const news = this.byOwner.get(ownerId)?.get(key);
    if (news === undefined) return nothing;
    this.update(ownerId, key, () => ({}));
    const { lost, moved } = news;
    return [
      ...(lost === undefined ? [] : [`[New kernel, earlier variables are gone: ${lost}]`]),
      ...(moved === undefined ? [] : [`[${moved}]`]),
    ];
  }

  forgetOwner(ownerId: string): void {
    this.byOwner.delete(ownerId);
  }

  private update(ownerId: string, key: string, change: (news: News) => News): void {
    const known = this.byOwner.get(ownerId) ?? new Map<string, News>();
    const news = change(known.get(key) ?? {});
    if (news.lost === undefined && news.moved === undefined) known.delete(key);
    else known.set(key, news);
    if (known.size === 0) this.byOwner.delete(ownerId);
    else this.byOwner.set(ownerId, known);
  }
}

const nothing: readonly string[] = [];
