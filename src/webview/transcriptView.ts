import { el, setText } from './dom';
import { dateAndTime, plural } from './format';
import { OutputView } from './outputView';
import type { EntryUpdate } from './protocol';
import { RunCard, type CardActions } from './runCard';

interface Loose {
  readonly kind: 'loose';
  readonly element: HTMLElement;
  readonly output: OutputView;
}

type Shown =
  | { readonly kind: 'run'; readonly element: HTMLElement; readonly card: RunCard }
  | Loose
  | { readonly kind: 'note'; readonly element: HTMLElement };

/** The list of what the shown session did. */
export class TranscriptView {
  readonly element = el('ol', { class: 'entries', role: 'list' });
  private readonly dropped = el('li', { class: 'note dropped', hidden: '' });
  private readonly trouble = el('li', { class: 'note trouble' });
  private readonly shown = new Map<number, Shown>();

  constructor(
    private readonly actions: CardActions,
    private readonly onEnd: (summary: string) => void,
  ) {
    this.element.append(this.dropped);
  }

  get isEmpty(): boolean {
    return this.shown.size === 0;
  }

  reset(): void {
    this.shown.clear();
    this.element.replaceChildren(this.dropped);
  }

  remove(id: number): void {
    this.shown.get(id)?.element.remove();
    this.shown.delete(id);
    if (this.isEmpty) this.trouble.remove();
  }

  setDropped(runs: number): void {
    this.dropped.hidden = runs === 0;
    setText(this.dropped, `${plural(runs, 'earlier run')} left out`);
  }

  /** Says at the end of the list, once, that something is missing there. */
  showTrouble(text: string): void {
    setText(this.trouble, text);
    this.element.append(this.trouble);
  }

  /** One entry's news as steps that are short each. `now` is on the extension's clock, in ms. */
  *apply(entry: EntryUpdate, now: number, announce: boolean): Generator<void> {
    const shown = this.shown.get(entry.id) ?? this.add(entry);
    if (shown === undefined || entry.kind === 'note') return;
    if (entry.output !== null) {
      if (shown.kind === 'run') yield* shown.card.apply(entry.output);
      if (shown.kind === 'loose') yield* shown.output.apply(entry.output);
    }
    if (shown.kind !== 'run' || entry.kind !== 'run' || entry.head === null) return;
    const wasOpen = isOpen(shown.card);
    shown.card.update(entry.head, now);
    if (announce && wasOpen && !isOpen(shown.card)) this.onEnd(shown.card.summary);
  }

  /** Whether a run's time goes on. */
  tick(now: number): boolean {
    let running = false;
    for (const each of this.shown.values()) {
      if (each.kind !== 'run' || each.card.state !== 'running') continue;
      each.card.tick(now);
      running = true;
    }
    return running;
  }

  elementOf(id: number): HTMLElement | undefined {
    return this.shown.get(id)?.element;
  }

  private add(entry: EntryUpdate): Shown | undefined {
    const shown = this.create(entry);
    if (shown === undefined) return undefined;
    this.shown.set(entry.id, shown);
    this.element.append(shown.element);
    return shown;
  }

  private create(entry: EntryUpdate): Shown | undefined {
    switch (entry.kind) {
      case 'run': {
        if (entry.head === null) return undefined;
        const card = new RunCard(entry.head, this.actions);
        return { kind: 'run', element: card.element, card };
      }
      case 'loose': {
        const output = new OutputView(this.actions);
        const title = 'Output that belongs to no run';
        const element = el('li', { class: 'loose', title }, output.element);
        return { kind: 'loose', element, output };
      }
      case 'note':
        return {
          kind: 'note',
          element: el('li', { class: 'note' }, noteText(entry)),
        };
    }
  }
}

const isOpen = ({ state }: RunCard): boolean => state === 'queued' || state === 'running';

function noteText({ text, at, dated = false }: Extract<EntryUpdate, { kind: 'note' }>): string {
  if (dated) return `${text} ${dateAndTime(at)}`;
  const time = new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return `${text} · ${time}`;
}
