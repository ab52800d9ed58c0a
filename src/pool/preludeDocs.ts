import type { Clock } from '../base/clock';
import { deferred } from '../base/deferred';
import type { PooledKernel, PreludeHelper } from '../kernel/kernel';

const INTROSPECTION_LIMIT_MS = 10_000;

type Docs = readonly PreludeHelper[];

/** Docs of prelude helpers by what the prelude is; of equal preludes one is introspected, and only once at a time. */
export class PreludeDocs {
  private readonly known = new Map<string, Promise<Docs>>();

  constructor(private readonly clock: Clock) {}

  /** Docs that are known, or being looked at. */
  get(content: string): Promise<Docs> | undefined {
    return this.known.get(content);
  }

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
    const limit = deferred<Docs>();
    const timer = this.clock.after(INTROSPECTION_LIMIT_MS, () =>
      limit.reject(new Error('The prelude could not be looked at in time.')),
    );
    try {
      const docs = kernel.introspectPrelude?.() ?? Promise.resolve([]);
      return (await Promise.race([docs, limit.promise])).map(withFirstLine);
    } finally {
      timer.dispose();
    }
  }
}

function withFirstLine(helper: PreludeHelper): PreludeHelper {
  const [docstring = ''] = helper.docstring.trim().split('\n');
  return { ...helper, docstring: docstring.trim() };
}
