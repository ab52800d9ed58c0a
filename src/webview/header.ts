import { el, iconButton, setText } from './dom';
import { dateAndTime } from './format';
import { icon } from './icons';
import type { SessionHead } from './protocol';

interface HeaderActions {
  show(sessionKey: string): void;
  interrupt(): void;
  helpers(): void;
  clear(): void;
}

const stateWords: Record<string, string> = {
  starting: 'Starting',
  idle: 'Idle',
  busy: 'Running',
  stopping: 'Stopping',
  stopUnconfirmed: 'Stop not confirmed',
  dead: 'Kernel died',
  gone: 'Ended',
  earlier: 'From earlier',
  // Of background runs.
  done: 'Done',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

/** Which session is shown, how it is, and what can be done with it. */
export class Header {
  readonly element: HTMLElement;
  private readonly chooser = el('select', { class: 'chooser', 'aria-label': 'Session' });
  private readonly dot = el('span', { class: 'dot' });
  private readonly state = el('span', { class: 'state' });
  private readonly description = el('span', { class: 'description' });
  private readonly interrupt: HTMLButtonElement;
  private readonly clear: HTMLButtonElement;
  private readonly session: HTMLElement;

  constructor(actions: HeaderActions) {
    this.interrupt = iconButton('Interrupt what runs', icon('stop'), () => actions.interrupt());
    this.interrupt.classList.add('interrupt');
    const helpers = iconButton('Show the helpers of the prelude', icon('book'), () =>
      actions.helpers(),
    );
    this.clear = iconButton('Clear the transcript', icon('clear'), () => actions.clear());
    this.chooser.addEventListener('change', () => actions.show(this.chooser.value));
    this.session = el(
      'div',
      { class: 'session' },
      this.dot,
      el('span', { class: 'chooser-box' }, this.chooser, icon('chevron')),
      this.state,
      this.description,
    );
    this.element = el(
      'header',
      { class: 'header' },
      this.session,
      el(
        'div',
        { class: 'tools', role: 'toolbar', 'aria-label': 'Session' },
        this.interrupt,
        helpers,
        this.clear,
      ),
    );
    this.update([], null);
  }

  update(sessions: readonly SessionHead[], shown: string | null): void {
    const current = sessions.find((session) => session.key === shown);
    this.session.classList.toggle('none', sessions.length === 0);
    this.fillChooser(sessions, shown);
    this.dot.dataset['state'] = current?.state ?? 'gone';
    setText(this.state, current === undefined ? '' : (stateWords[current.state] ?? current.state));
    setText(this.description, current?.description ?? '');
    this.description.title = current?.description ?? '';
    const canInterrupt = current?.state === 'busy' || current?.state === 'starting';
    this.interrupt.disabled = !canInterrupt;
    this.clear.disabled = current === undefined;
  }

  private fillChooser(sessions: readonly SessionHead[], shown: string | null): void {
    const options = [...this.chooser.options];
    const same =
      options.length === sessions.length &&
      options.every((option, index) => {
        const session = sessions[index];
        return option.value === session?.key && option.label === labelOf(session);
      });
    // Rebuilding closes a list that the person has open.
    if (!same) {
      this.chooser.replaceChildren(
        ...sessions.map((session) => el('option', { value: session.key }, labelOf(session))),
      );
    }
    if (shown !== null) this.chooser.value = shown;
  }
}

function labelOf({ label, state, until }: SessionHead): string {
  if (state === 'gone') return `${label} (ended)`;
  return until === undefined ? label : `${label} (until ${dateAndTime(until)})`;
}
