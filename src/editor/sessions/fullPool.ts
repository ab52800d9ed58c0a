import type { Clock } from '../../base/clock';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { SessionSnapshot, WaiterSnapshot } from '../../pool/types';
import type { Prompts } from '../prompts';
import { holdersInWords } from './capacityRow';
import type { SessionActions } from './sessionActions';
import type { SessionBook } from './sessionBook';
import type { SessionsModel } from './sessionsModel';
import { sessionKeyOf } from './target';

/** A slot that is free within this time is not worth a word: one owner's session goes for another's all the time. */
const PATIENCE_MS = 1_000;

interface FullPoolParts {
  readonly ownerId: string;
  readonly model: SessionsModel;
  readonly book: SessionBook;
  readonly actions: Pick<SessionActions, 'stop' | 'forget'>;
  readonly prompts: Prompts;
  readonly clock: Clock;
  /** A person's choice among sessions; undefined: none. */
  pick(candidates: readonly SessionSnapshot[]): Promise<SessionSnapshot | undefined>;
  changeLimit(): Promise<void>;
  onFailure(error: unknown): void;
}

/** When this window's run waits for a slot: says who has them, once for each wait, and offers to free one. */
export class FullPool implements Disposable {
  private readonly store = new DisposableStore();
  private waits = new Map<string, Disposable>();

  constructor(private readonly parts: FullPoolParts) {
    this.store.add(parts.model.onDidChange(() => this.look()));
  }

  /** Asks which session is to go, the ones that are least missed first. */
  async freeSlot(): Promise<void> {
    const { model, prompts, actions } = this.parts;
    const capacity = model.capacity();
    if (!capacity || capacity.counted < capacity.capacity) {
      await prompts.inform('There is a free slot: nothing has to be stopped.');
      return;
    }
    const picked = await this.parts.pick(inOrderOfLoss(model.sessions()));
    const session = picked && model.withId(picked.id);
    // It may have gone by itself meanwhile, or be in use again.
    if (!session) return;
    if (session.state.kind === 'stopUnconfirmed') await actions.forget(session);
    else await actions.stop(session);
  }

  dispose(): void {
    for (const wait of this.waits.values()) wait.dispose();
    this.store.dispose();
  }

  private look(): void {
    const { model, ownerId, clock } = this.parts;
    const before = this.waits;
    this.waits = new Map();
    for (const waiter of model.capacity()?.waiting ?? []) {
      if (!waiter.owners.some(({ id }) => id === ownerId)) continue;
      const wait = `${sessionKeyOf(waiter)} ${waiter.since}`;
      const known = before.get(wait);
      this.waits.set(wait, known ?? clock.after(PATIENCE_MS, () => this.offer(waiter)));
      before.delete(wait);
    }
    for (const over of before.values()) over.dispose();
  }

  private offer(waiter: WaiterSnapshot): void {
    this.ask(waiter).catch((error: unknown) => this.parts.onFailure(error));
  }

  private async ask(waiter: WaiterSnapshot): Promise<void> {
    const { model, book, prompts } = this.parts;
    const slots = model.capacity()?.capacity ?? 0;
    const holders = holdersInWords(model.sessions(), { labelOf: (one) => book.labelOf(one) });
    const [free, limit] = ['Free a Slot…', 'Change the Limit'];
    const taken = slots === 1 ? 'the only one is' : `all ${slots} are`;
    const chosen = await prompts.inform(
      `${book.labelOf(waiter)} waits for a kernel slot: ${taken} taken, by ${holders}.`,
      free,
      limit,
    );
    if (chosen === free) await this.freeSlot();
    if (chosen === limit) await this.parts.changeLimit();
  }
}

/** First those that nobody uses, the least recently used before the others; what is stopping goes by itself. */
export function inOrderOfLoss(sessions: readonly SessionSnapshot[]): readonly SessionSnapshot[] {
  return sessions
    .map((session) => ({ session, loss: lossOf(session) }))
    .filter(({ loss }) => loss !== undefined)
    .sort((a, b) => (a.loss ?? 0) - (b.loss ?? 0) || a.session.state.since - b.session.state.since)
    .map(({ session }) => session);
}

function lossOf({ state }: SessionSnapshot): number | undefined {
  switch (state.kind) {
    case 'dead':
      return 0;
    case 'idle':
      return 1;
    case 'stopUnconfirmed':
      return 2;
    case 'starting':
      return 3;
    case 'busy':
      return 4;
    case 'stopping':
      return undefined;
  }
}
