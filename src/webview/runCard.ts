import { drawCode } from './code';
import { el, iconButton, setText, textButton } from './dom';
import { placeLink, type Reveal } from './drawBlock';
import { duration, fileName } from './format';
import { icon } from './icons';
import { OutputView } from './outputView';
import type { OutputUpdate, RunHead, RunState } from './protocol';

export interface CardActions {
  readonly reveal: Reveal;
  readonly copy: (text: string) => void;
  readonly dirty: (view: OutputView) => void;
  readonly failed: (error: unknown) => void;
}

const stateWords: Record<RunState, string> = {
  queued: 'Queued',
  running: 'Running',
  ok: 'Finished',
  error: 'Failed',
  cancelled: 'Cancelled',
  left: 'Left running',
  failed: 'Could not run',
};

/** One run: its code, who ran it from where and for how long, and its output. */
export class RunCard {
  readonly output: OutputView;
  readonly element: HTMLElement;
  private readonly gutter = el('div', { class: 'gutter' });
  private readonly elapsed = el('span', { class: 'elapsed' });
  private readonly remark = el('div', { class: 'remark', hidden: '' });
  private readonly copyButton: HTMLButtonElement;
  private readonly fullOutput: HTMLButtonElement;
  private drawnState: RunState | undefined;

  constructor(
    private head: RunHead,
    private readonly actions: CardActions,
  ) {
    this.output = new OutputView(actions);
    this.copyButton = iconButton('Copy output', icon('copy'), () => {
      actions.copy(this.output.text());
    });
    this.copyButton.classList.add('copy-output');
    this.fullOutput = textButton('Open the full output', 'link-button full-output', () => {
      if (this.head.artifact !== null) actions.reveal(this.head.artifact, 1);
    });
    this.fullOutput.hidden = true;
    const body = el('div', { class: 'output-area' }, this.output.element, this.copyButton);
    body.append(this.fullOutput);
    this.element = el(
      'li',
      { class: 'run' },
      this.gutter,
      el('div', { class: 'code-row' }, drawCode(head.code, head.language), this.drawMeta()),
      this.remark,
      body,
    );
  }

  get state(): RunState {
    return this.head.state;
  }

  update(head: RunHead, now: number): void {
    this.head = head;
    if (head.state !== this.drawnState) this.drawState();
    this.tick(now);
    setText(this.remark, head.remark ?? '');
    this.remark.hidden = head.remark === null;
    this.fullOutput.hidden = head.artifact === null;
  }

  /** @param now on the extension's clock, in ms. */
  tick(now: number): void {
    setText(this.elapsed, this.elapsedText(now));
  }

  apply(update: OutputUpdate): Generator<void> {
    return this.output.apply(update);
  }

  /** The end of the run in a sentence, for who doesn't see it. */
  get summary(): string {
    const { state, startedAt, endedAt, remark } = this.head;
    if (remark !== null) return `${stateWords[state]}: ${remark}`;
    const time =
      startedAt === null || endedAt === null ? '' : ` after ${duration(endedAt - startedAt)}`;
    const error = this.element.querySelector('.error-summary')?.textContent.trim();
    return `${stateWords[state]}${time}${error === undefined || state !== 'error' ? '' : `: ${error}`}`;
  }

  private elapsedText(now: number): string {
    const { state, startedAt, endedAt } = this.head;
    if (state === 'queued') return 'queued';
    if (startedAt === null) return state === 'cancelled' ? 'cancelled' : '';
    const time = duration((endedAt ?? now) - startedAt);
    if (state === 'left') return `${time} until its window closed`;
    return state === 'cancelled' ? `cancelled after ${time}` : time;
  }

  private drawState(): void {
    const { state } = this.head;
    this.drawnState = state;
    this.element.dataset['state'] = state;
    this.element.setAttribute('aria-label', `${stateWords[state]}: ${firstLine(this.head.code)}`);
    const sign = el('span', { class: 'sign', role: 'img', 'aria-label': stateWords[state] });
    sign.title = stateWords[state];
    const drawing = signOf(state);
    if (drawing !== undefined) sign.append(drawing);
    this.gutter.replaceChildren(sign);
  }

  private drawMeta(): HTMLElement {
    const { source, owner } = this.head;
    const meta = el('div', { class: 'meta' });
    if (owner !== null)
      meta.append(el('span', { class: 'owner', title: `Run by ${owner}` }, owner));
    if (source !== null) {
      const label = `${fileName(source.file)}:${source.line}`;
      meta.append(placeLink(label, source, this.actions.reveal));
    }
    meta.append(this.elapsed);
    return meta;
  }
}

function signOf(state: RunState): Node | undefined {
  switch (state) {
    case 'queued':
      return icon('waiting');
    case 'running':
      return el('span', { class: 'spinner' });
    case 'ok':
      return icon('check');
    case 'error':
      return icon('cross');
    case 'cancelled':
    case 'left':
      return icon('slash');
    case 'failed':
      return icon('alert');
  }
}

const firstLine = (code: string): string => code.trimStart().split('\n', 1)[0]?.slice(0, 80) ?? '';
