import { messageOf } from '../base/errors';
import { Composer } from './composer';
import { el, setText } from './dom';
import { drawEmpty } from './empty';
import { Header } from './header';
import type { Host } from './host';
import type { Ask, NotUnderstood, PanelUpdate, SessionHead, ToPanel } from './protocol';
import { Follower } from './scroll';
import { TranscriptView } from './transcriptView';
import { FrameWork } from './work';

const TICK_MS = 100;
const QUIET_TICK_MS = 1_000;

/** The whole page: it shows what updates say and tells the extension what the person does. */
export class PanelPage {
  readonly element: HTMLElement;
  private readonly header: Header;
  private readonly transcript: TranscriptView;
  private readonly composer: Composer;
  private readonly follower: Follower;
  private readonly work: FrameWork;
  private readonly empty = el('div', { class: 'empty', hidden: '' });
  private readonly announcer = el('div', {
    class: 'unseen',
    role: 'status',
    'aria-live': 'polite',
  });
  private sessions: readonly SessionHead[] = [];
  private shown: string | null = null;
  private ask: Ask | null = null;
  private askedIn: HTMLElement | undefined;
  private clockAhead = 0;
  private ticking = false;
  private saving = false;
  private scrollToRestore: number | null;

  constructor(private readonly host: Host) {
    this.scrollToRestore = host.saved.scroll;
    this.header = new Header({
      show: (sessionKey) => host.send({ type: 'show', sessionKey }),
      interrupt: () => this.interrupt(),
      helpers: () => host.send({ type: 'helpers', sessionKey: this.shown }),
      clear: () => this.toShown((sessionKey) => host.send({ type: 'clear', sessionKey })),
    });
    this.work = new FrameWork(
      (frame) => requestAnimationFrame(frame),
      () => this.follower.keepUp(),
      (error) => this.showFailure(error),
    );
    this.transcript = new TranscriptView(
      {
        reveal: (file, line) => host.send({ type: 'reveal', file, line }),
        copy: (text) => host.send({ type: 'copy', text }),
        dirty: (view) => this.work.markDirty(view),
        failed: (error) => this.report(error),
      },
      (summary) => setText(this.announcer, summary),
    );
    this.composer = new Composer(
      {
        run: (code) => {
          host.send({ type: 'run', code, sessionKey: this.shown });
          this.follower.follow();
        },
        answer: (ask, text) => host.send({ type: 'answer', ask, text }),
        interrupt: () => this.interrupt(),
        changed: () => this.saveSoon(),
      },
      host.saved,
    );
    // The announcer speaks at the end of a run; the log itself must not read out a flood.
    const log = el('main', {
      class: 'log',
      role: 'log',
      'aria-live': 'off',
      'aria-label': 'Transcript',
      tabindex: '0',
    });
    log.append(this.transcript.element, this.empty);
    this.follower = new Follower(log, this.transcript.element);
    log.addEventListener('scroll', () => this.saveSoon(), { passive: true });
    const middle = el('div', { class: 'middle' }, log, this.follower.chip);
    this.element = el(
      'div',
      { class: 'panel' },
      this.header.element,
      middle,
      this.composer.element,
    );
    this.element.append(this.announcer);
  }

  receive(message: ToPanel | NotUnderstood): void {
    switch (message.type) {
      case 'update':
        return this.work.add(this.apply(message));
      case 'insertInput':
        return this.composer.insert(message.text);
      case 'notUnderstood':
        this.showFailure(new Error(`A message was not understood. ${message.problem}`));
        if (message.seq !== undefined) this.acknowledgeAfterPaint(message.seq);
    }
  }

  private *apply(update: PanelUpdate): Generator<void> {
    try {
      yield* this.show(update);
    } finally {
      // Also of what could not be shown: without it nothing would ever come again.
      this.acknowledgeAfterPaint(update.seq);
    }
  }

  private *show(update: PanelUpdate): Generator<void> {
    this.clockAhead = update.now - Date.now();
    if (update.reset) this.startOver(update);
    for (const id of update.removed) this.transcript.remove(id);
    this.transcript.setDropped(update.droppedRuns);
    this.sessions = update.sessions ?? this.sessions;
    this.ask = update.ask;
    this.drawFrame(update);
    for (const entry of update.entries) {
      try {
        yield* this.transcript.apply(entry, update.now, !update.reset);
      } catch (error) {
        this.showFailure(error);
      }
      yield;
    }
    this.drawFrame(update);
    this.markAsking();
    this.startTicking();
    this.restoreScroll(update);
  }

  private startOver(update: PanelUpdate): void {
    this.transcript.reset();
    if (this.shown !== null) this.follower.follow();
    this.shown = update.shown;
  }

  private drawFrame(update: PanelUpdate): void {
    const current = this.sessions.find((session) => session.key === this.shown);
    this.header.update(this.sessions, this.shown);
    this.composer.update({
      disabled: update.inputDisabled,
      ask: this.ask,
      busy: current?.state === 'busy',
      target: current?.label,
    });
    const isEmpty = this.transcript.isEmpty && update.entries.length === 0;
    if (isEmpty && this.empty.hidden) this.empty.replaceChildren(drawEmpty(update.runKey));
    this.empty.hidden = !isEmpty;
  }

  private markAsking(): void {
    const asking = this.ask === null ? undefined : this.transcript.elementOf(this.ask.entry);
    if (asking === this.askedIn) return;
    this.askedIn?.classList.remove('asks');
    asking?.classList.add('asks');
    this.askedIn = asking;
    if (this.ask !== null) setText(this.announcer, `Input is asked for: ${this.ask.prompt}`);
  }

  private restoreScroll(update: PanelUpdate): void {
    const position = this.scrollToRestore;
    this.scrollToRestore = null;
    if (position === null || this.host.saved.shown !== update.shown) return;
    requestAnimationFrame(() => this.follower.restore(position));
  }

  /** The second frame begins when the first is on the screen. */
  private acknowledgeAfterPaint(seq: number): void {
    requestAnimationFrame(() => this.host.send({ type: 'ack', seq }));
  }

  private showFailure(error: unknown): void {
    this.transcript.showTrouble(`Something here could not be shown: ${messageOf(error)}`);
    this.report(error);
  }

  private report(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.host.send({ type: 'problem', text });
  }

  private startTicking(): void {
    if (this.ticking) return;
    this.ticking = true;
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const tick = (): void => {
      this.ticking = this.transcript.tick(Date.now() + this.clockAhead);
      if (this.ticking) setTimeout(tick, calm ? QUIET_TICK_MS : TICK_MS);
    };
    tick();
  }

  private interrupt(): void {
    this.toShown((sessionKey) => this.host.send({ type: 'interrupt', sessionKey }));
  }

  private toShown(action: (sessionKey: string) => void): void {
    if (this.shown !== null) action(this.shown);
  }

  private saveSoon(): void {
    if (this.saving) return;
    this.saving = true;
    requestAnimationFrame(() => {
      this.saving = false;
      const { draft, entered } = this.composer;
      const scroll = this.follower.position ?? null;
      this.host.save({ draft, history: [...entered], scroll, shown: this.shown });
    });
  }
}
