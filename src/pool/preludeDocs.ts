import type { PooledKernel, PreludeHelper } from '../kernel/kernel';

type Docs = readonly PreludeHelper[];

/** Docs of prelude helpers by what the prelude is; of equal preludes one is introspected, and only once at a time. */
export class PreludeDocs {
  private readonly known = new Map<string, Promise<Docs>>();

  /** A failed introspection rejects for all who wait for it, and leaves nothing. */
  of(content: string, kernel: PooledKernel): Promise<Docs> {
    const known = this.known.get(content);
    if (known) return known;
    const docs = this.introspect(kernel);
    this.known.set(content, docs);
    docs.catch(() => this.known.delete(content));
    return docs;
  }

  private async introspect(kernel: PooledKernel): Promise<Docs> {
    return (await kernel.introspectPrelude?.()) ?? [];
  }
}
