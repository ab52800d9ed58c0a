import type { Clock } from '../../base/clock';
import type { Disposable } from '../../base/disposable';
import { Emitter } from '../../base/event';
import type { Log } from '../../base/log';
import { chatWithId, type Chat } from './chat';

export interface ChatOwnersParts {
  readonly clock: Clock;
  readonly log: Log;
  /** How long a chat that the editor has unloaded keeps its hold, ms. */
  gracePeriodMs(): Promise<number>;
  /** The owner holds a session, also one that this window has taken up from the one before. */
  holds(ownerId: string): boolean;
  /** Lets go of all that the owner holds, and ends what it runs. */
  close(ownerId: string): Promise<void>;
  /** Writes the records that have waited for the chat to be done. */
  flush(ownerId: string): void;
}

type Phase =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'unloaded'; readonly until: number; readonly timer: Disposable }
  | { readonly kind: 'closing'; readonly over: Promise<void> };

interface Entry {
  readonly ownerId: string;
  phase: Phase;
  /** Requests and calls of the chat that are being answered. */
  answering: number;
}

/**
 * Chats as owners, by the editor's facts about them: one that it unloads keeps its hold for a grace period and takes it
 * up again when it comes back; a deleted one lets go at once. Where the editor tells neither, idle expiry is the rule.
 */
export class ChatOwners implements Disposable {
  private readonly entries = new Map<string, Entry>();
  private readonly changed = new Emitter<void>();
  private readonly closed = new Emitter<string>();

  constructor(private readonly parts: ChatOwnersParts) {}

  /** Some chat was unloaded, came back or is gone. */
  readonly onDidChange = this.changed.event;

  /** A chat has let go, as far as it could. Told its owner id. */
  readonly onDidClose = this.closed.event;

  /**
   * A chat's request or call is being answered until the disposal of what this resolves to. Resolves at once, but for a
   * chat that is letting go: then when that is over, and it begins anew.
   */
  async begin({ ownerId }: Chat): Promise<Disposable> {
    for (;;) {
      const phase = this.entries.get(ownerId)?.phase;
      if (phase?.kind !== 'closing') break;
      await phase.over;
    }
    const entry = this.entryOf(ownerId);
    this.comeBack(entry);
    entry.answering++;
    let isOver = false;
    return {
      dispose: () => {
        if (isOver) return;
        isOver = true;
        entry.answering--;
        if (entry.answering === 0) this.parts.flush(ownerId);
      },
    };
  }

  /** A chat asked for something that may yet be refused: it is there again. */
  seen({ ownerId }: Chat): void {
    const entry = this.entries.get(ownerId);
    if (entry) this.comeBack(entry);
  }

  isStreaming(ownerId: string): boolean {
    return (this.entries.get(ownerId)?.answering ?? 0) > 0;
  }

  /** It has asked for something here, or holds a session. */
  knows(ownerId: string): boolean {
    return this.entries.has(ownerId) || this.parts.holds(ownerId);
  }

  /** When an unloaded chat lets go, ms since the epoch. Undefined: it is loaded, as far as can be told. */
  letsGoAt(ownerId: string): number | undefined {
    const phase = this.entries.get(ownerId)?.phase;
    return phase?.kind === 'unloaded' ? phase.until : undefined;
  }

  /** The editor has unloaded a chat, which may come back. Told again, it counts from the first time. */
  async unloaded(sessionId: string): Promise<void> {
    const { ownerId } = chatWithId(sessionId);
    const entry = this.known(ownerId);
    if (entry?.phase.kind !== 'loaded') return;
    const graceMs = await this.parts.gracePeriodMs();
    // The chat may have come back or gone meanwhile.
    if (this.entries.get(ownerId) !== entry || entry.phase.kind !== 'loaded') return;
    const { clock } = this.parts;
    entry.phase = {
      kind: 'unloaded',
      until: clock.now() + graceMs,
      timer: clock.after(graceMs, () => this.close(entry, 'was closed')),
    };
    this.changed.fire();
  }

  /** A person has deleted a chat. */
  deleted(sessionId: string): void {
    const entry = this.known(chatWithId(sessionId).ownerId);
    if (entry) this.close(entry, 'was deleted');
  }

  dispose(): void {
    for (const { phase } of this.entries.values()) {
      if (phase.kind === 'unloaded') phase.timer.dispose();
    }
    this.changed.dispose();
    this.closed.dispose();
  }

  private known(ownerId: string): Entry | undefined {
    // Chats that never ran anything here come and go unnoticed.
    return this.knows(ownerId) ? this.entryOf(ownerId) : undefined;
  }

  private entryOf(ownerId: string): Entry {
    const known = this.entries.get(ownerId);
    if (known) return known;
    const made: Entry = { ownerId, phase: { kind: 'loaded' }, answering: 0 };
    this.entries.set(ownerId, made);
    return made;
  }

  private comeBack(entry: Entry): void {
    if (entry.phase.kind !== 'unloaded') return;
    entry.phase.timer.dispose();
    entry.phase = { kind: 'loaded' };
    this.changed.fire();
  }

  private close(entry: Entry, why: string): void {
    const { ownerId, phase } = entry;
    if (phase.kind === 'closing') return;
    if (phase.kind === 'unloaded') phase.timer.dispose();
    const { log } = this.parts;
    log.info(`${ownerId} ${why}: its sessions are let go of.`);
    const over = this.parts
      .close(ownerId)
      .catch((error: unknown) => log.error(`Not all of ${ownerId} could be let go of.`, error))
      .finally(() => {
        this.entries.delete(ownerId);
        this.closed.fire(ownerId);
        this.changed.fire();
      });
    entry.phase = { kind: 'closing', over };
    this.changed.fire();
  }
}
