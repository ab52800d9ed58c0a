import { el, iconButton, setText } from './dom';
import { InputHistory } from './history';
import { icon } from './icons';
import type { Ask } from './protocol';

interface ComposerActions {
  run(code: string): void;
  answer(ask: number, text: string | null): void;
  interrupt(): void;
  /** The draft or the history is another one. */
  changed(): void;
}

interface ComposerState {
  readonly disabled: string | null;
  readonly ask: Ask | null;
  readonly busy: boolean;
  readonly target: string | undefined;
}

const TALLEST_PX = 220;

/** The line at the bottom: it runs code, and while a run asks for input it is where the answer goes. */
export class Composer {
  readonly element: HTMLElement;
  private readonly code = el('textarea', { class: 'field', rows: '1', spellcheck: 'false' });
  private readonly answer = el('input', { class: 'field', type: 'text', spellcheck: 'false' });
  private readonly prompt = el('label', { class: 'prompt', for: 'holdfast-answer' });
  private readonly why = el('div', { class: 'why', id: 'holdfast-why' });
  private readonly runButton: HTMLButtonElement;
  private readonly history: InputHistory;
  private state: ComposerState = { disabled: null, ask: null, busy: false, target: undefined };

  constructor(
    private readonly actions: ComposerActions,
    saved: { readonly draft: string; readonly history: readonly string[] },
  ) {
    this.history = new InputHistory([...saved.history]);
    this.code.value = saved.draft;
    this.answer.id = 'holdfast-answer';
    this.answer.autocomplete = 'off';
    for (const field of [this.code, this.answer])
      field.setAttribute('aria-describedby', 'holdfast-why');
    this.runButton = iconButton('Run', icon('run'), () => this.submit());
    this.code.addEventListener('keydown', (event) => this.codeKey(event));
    this.answer.addEventListener('keydown', (event) => this.answerKey(event));
    this.code.addEventListener('input', () => this.edited());
    const sign = el('span', { class: 'sign', 'aria-hidden': 'true' }, '›');
    const line = el('div', { class: 'line' }, sign, this.prompt, this.code, this.answer);
    line.append(this.runButton);
    this.element = el('form', { class: 'composer' }, line, this.why);
    this.element.addEventListener('submit', (event) => event.preventDefault());
    this.drawAsk(null);
    this.update(this.state);
  }

  get draft(): string {
    return this.code.value;
  }

  get entered(): readonly string[] {
    return this.history.all;
  }

  focus(): void {
    (this.state.ask === null ? this.code : this.answer).focus();
  }

  /** Writes at the caret, and leaves it behind the text. */
  insert(text: string): void {
    this.code.focus();
    this.code.setRangeText(text, this.code.selectionStart, this.code.selectionEnd, 'end');
    this.edited();
  }

  update(state: ComposerState): void {
    const hadFocus = this.element.contains(document.activeElement);
    const asked = state.ask?.id !== this.state.ask?.id;
    this.state = state;
    if (asked) this.drawAsk(state.ask);
    this.code.disabled = state.disabled !== null;
    this.runButton.disabled = state.disabled !== null && state.ask === null;
    setText(this.why, this.explanation());
    this.why.hidden = this.why.textContent === '';
    const name = state.target === undefined ? 'Run code' : `Run code in ${state.target}`;
    this.code.setAttribute('aria-label', name);
    this.code.placeholder = state.disabled === null ? name : '';
    if (asked && hadFocus) this.focus();
    this.fit();
  }

  private explanation(): string {
    const { ask, disabled } = this.state;
    if (ask !== null) return 'Enter answers · Ctrl+D ends the input · Escape interrupts';
    return disabled ?? '';
  }

  private drawAsk(ask: Ask | null): void {
    this.element.classList.toggle('asking', ask !== null);
    this.code.hidden = ask !== null;
    this.answer.hidden = ask === null;
    this.prompt.hidden = ask === null;
    this.answer.value = '';
    this.answer.type = ask?.password === true ? 'password' : 'text';
    setText(this.prompt, ask === null ? '' : ask.prompt === '' ? 'Input:' : ask.prompt);
    const label = ask === null ? 'Run' : 'Answer';
    this.runButton.title = label;
    this.runButton.setAttribute('aria-label', label);
  }

  private submit(): void {
    const { ask, disabled } = this.state;
    if (ask !== null) {
      this.actions.answer(ask.id, this.answer.value);
      this.answer.value = '';
      return;
    }
    const code = this.code.value;
    if (disabled !== null || code.trim() === '') return;
    this.history.add(code);
    this.setCode('');
    this.actions.run(code);
  }

  private codeKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === 'Enter') {
      event.preventDefault();
      if (event.shiftKey) this.newLine();
      else this.submit();
    } else if (event.key === 'ArrowUp' && this.isPlain(event) && this.caretIsOnFirstLine())
      this.recall(event, this.history.previous(this.code.value));
    else if (event.key === 'ArrowDown' && this.isPlain(event) && this.caretIsOnLastLine())
      this.recall(event, this.history.next());
    else if (event.key === 'c' && event.ctrlKey && this.state.busy && !this.hasSelection())
      this.actions.interrupt();
  }

  private answerKey(event: KeyboardEvent): void {
    const { ask } = this.state;
    if (event.isComposing || ask === null) return;
    const isEndOfFile = event.key === 'd' && event.ctrlKey && this.answer.value === '';
    const isInterrupt =
      event.key === 'Escape' ||
      (event.key === 'c' &&
        event.ctrlKey &&
        this.answer.selectionStart === this.answer.selectionEnd);
    if (event.key !== 'Enter' && !isEndOfFile && !isInterrupt) return;
    event.preventDefault();
    if (isInterrupt) this.actions.interrupt();
    else if (isEndOfFile) this.actions.answer(ask.id, null);
    else this.submit();
  }

  /** A new line at the depth of this one, one deeper behind a colon. */
  private newLine(): void {
    const { value, selectionStart } = this.code;
    const line = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart);
    const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
    const deeper = line.trimEnd().endsWith(':') ? '    ' : '';
    this.code.setRangeText(`\n${indent}${deeper}`, selectionStart, this.code.selectionEnd, 'end');
    this.edited();
  }

  private recall(event: KeyboardEvent, text: string | undefined): void {
    event.preventDefault();
    if (text !== undefined) this.setCode(text);
  }

  private setCode(text: string): void {
    this.code.value = text;
    this.code.setSelectionRange(text.length, text.length);
    this.edited();
  }

  private edited(): void {
    this.fit();
    this.actions.changed();
  }

  private fit(): void {
    this.code.style.height = 'auto';
    // A long placeholder would count.
    if (this.code.value === '') return;
    const height = Math.min(this.code.scrollHeight, TALLEST_PX);
    if (height > 0) this.code.style.height = `${height}px`;
  }

  private isPlain(event: KeyboardEvent): boolean {
    return !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
  }

  private hasSelection(): boolean {
    return this.code.selectionStart !== this.code.selectionEnd;
  }

  private caretIsOnFirstLine(): boolean {
    return (
      !this.hasSelection() && !this.code.value.slice(0, this.code.selectionStart).includes('\n')
    );
  }

  private caretIsOnLastLine(): boolean {
    return !this.hasSelection() && !this.code.value.slice(this.code.selectionEnd).includes('\n');
  }
}
