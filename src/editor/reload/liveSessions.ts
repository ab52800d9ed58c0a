import * as v from 'valibot';
import type { Memento } from 'vscode';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { LostSession, SessionSnapshot } from '../../pool/types';
import { sessionKeyOf } from '../sessions/target';

const STORED_AS = 'holdfast.liveSessions';

const stored = v.object({
  /** The process of the kernel host. */
  host: v.number(),
  /** The window's owner id. */
  window: v.string(),
  sessions: v.array(v.object({ key: v.string(), holders: v.array(v.string()) })),
});

/**
 * The sessions of this workspace that have, or had, a kernel, and who holds them, in the editor's own store. What else is
 * known of them is kept by their kernel host, and goes with it: a window that comes back too late finds here what is lost.
 * Of several windows the one that wrote last is remembered.
 */
export class LiveSessions {
  private written: string | undefined;

  constructor(
    private readonly store: Pick<Memento, 'get' | 'update'>,
    /** This window. */
    private readonly ownerId: string,
    private readonly log: Pick<Log, 'warn'>,
  ) {}

  /** What a window before this one had in a kernel host that is none of these processes; its owner is this window now. */
  lost(livingHosts: readonly number[]): readonly LostSession[] {
    const before = v.safeParse(stored, this.store.get(STORED_AS));
    if (!before.success || livingHosts.includes(before.output.host)) return [];
    const { window, sessions } = before.output;
    return sessions.map(({ key, holders }) => ({
      key,
      holders: holders.map((id) => (id === window ? this.ownerId : id)),
      why: 'it ended while the window was away',
    }));
  }

  /** Remembers what there is now. `host`: the process of this window's kernel host. */
  note(all: readonly SessionSnapshot[], host: number | undefined): void {
    if (host === undefined) return;
    const sessions = all
      .filter(({ state }) => mayBeMissed.has(state.kind))
      .map((session) => ({ key: sessionKeyOf(session), holders: holdersOf(session) }));
    const content: v.InferInput<typeof stored> = { host, window: this.ownerId, sessions };
    const text = JSON.stringify(content);
    if (text === this.written) return;
    this.written = text;
    this.store
      .update(STORED_AS, content)
      .then(undefined, (error: unknown) =>
        this.log.warn(`Which sessions live is not remembered: ${messageOf(error)}`),
      );
  }
}

// Of a kernel that is dead nobody may have been told yet; all of a window that leaves look so, too.
const mayBeMissed = new Set<SessionSnapshot['state']['kind']>(['idle', 'busy', 'dead']);

function holdersOf({ owners }: SessionSnapshot): string[] {
  return owners.filter(({ kind }) => kind !== 'departed').map(({ id }) => id);
}
