import { el, textButton } from './dom';
import { plural } from './format';
import { tokens } from './tokens';

const FOLDED_LINES = 10;
// Folding away one or two lines would save nothing.
const MOST_UNFOLDED_LINES = 12;

/** Code in light colours; what is long is folded, with a button that shows all of it. */
export function drawCode(code: string, language: string): HTMLElement {
  const text = code.replace(/\n+$/, '');
  const lines = text.split('\n');
  const code_ = el('code');
  const box = el('div', { class: 'code' }, el('pre', {}, code_));
  if (lines.length <= MOST_UNFOLDED_LINES) {
    fill(code_, text, language);
    return box;
  }
  fill(code_, lines.slice(0, FOLDED_LINES).join('\n'), language);
  const more = `${plural(lines.length - FOLDED_LINES, 'more line')}`;
  const unfold = textButton(more, 'link-button', () => {
    fill(code_, text, language);
    unfold.remove();
  });
  box.append(unfold);
  return box;
}

function fill(element: HTMLElement, text: string, language: string): void {
  const parts = tokens(text, language).map(({ text: part, kind }) => {
    return kind === undefined ? part : el('span', { class: `token-${kind}` }, part);
  });
  element.replaceChildren(...parts);
}
