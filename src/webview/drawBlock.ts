import { el } from './dom';
import { grouped } from './format';
import { linkTarget, places } from './links';
import type { Row } from './row';
import type { TextStyle } from './style';

/** Opens a place in a file; lines are 1-based. */
export type Reveal = (file: string, line: number) => void;

interface DrawOptions {
  readonly reveal: Reveal;
  /** Make links of the places that tracebacks name. */
  readonly places: boolean;
}

/** Rows as nodes for an element that keeps white space. Text of one style is one node, over line ends. */
export function drawRows(rows: readonly Row[], options: DrawOptions): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let plain = '';
  const flush = (): void => {
    if (plain !== '') appendPlain(fragment, plain, options);
    plain = '';
  };
  for (const row of rows) {
    for (const { text, style } of row.segments) {
      if (style === undefined) {
        plain += text;
        continue;
      }
      flush();
      fragment.append(styled(text, style, options));
    }
    if (row.surplus > 0) {
      flush();
      const more = `… ${grouped(row.surplus)} more characters`;
      fragment.append(el('span', { class: 'surplus' }, more));
    }
    plain += '\n';
  }
  flush();
  return fragment;
}

function appendPlain(fragment: DocumentFragment, text: string, options: DrawOptions): void {
  if (!options.places) {
    fragment.append(text);
    return;
  }
  for (const { text: part, target } of places(text))
    fragment.append(target === undefined ? part : placeLink(part, target, options.reveal));
}

/** A link to a place in a file. It is a button: there is no address to go to. */
export function placeLink(
  text: string,
  target: { readonly file: string; readonly line: number },
  reveal: Reveal,
): HTMLButtonElement {
  const title = `Open ${target.file}, line ${target.line}`;
  const button = el('button', { type: 'button', class: 'place', title }, text);
  button.addEventListener('click', () => reveal(target.file, target.line));
  return button;
}

function styled(text: string, style: TextStyle, options: DrawOptions): HTMLElement {
  const element = linked(text, style, options.reveal);
  const classes = classesOf(style);
  if (classes !== '')
    element.className = element.className === '' ? classes : `${element.className} ${classes}`;
  const { foreground, background } = style;
  if (isOwnColour(foreground))
    element.style.setProperty(style.inverse ? 'background-color' : 'color', foreground);
  if (isOwnColour(background))
    element.style.setProperty(style.inverse ? 'color' : 'background-color', background);
  return element;
}

function linked(text: string, style: TextStyle, reveal: Reveal): HTMLElement {
  const target = style.link === undefined ? undefined : linkTarget(style.link);
  if (target === undefined) {
    const span = document.createElement('span');
    span.append(text);
    return span;
  }
  if (target.kind === 'file') return placeLink(text, target, reveal);
  return el('a', { href: target.address, title: target.address }, text);
}

const isOwnColour = (colour: string | undefined): colour is string =>
  colour?.startsWith('#') === true;

/** Class names of a style. They are few, and every span of a coloured flood needs them. */
function classesOf(style: TextStyle): string {
  let classes = '';
  const { foreground, background } = style;
  const front = style.inverse ? background : foreground;
  const back = style.inverse ? foreground : background;
  if (front !== undefined && !isOwnColour(front)) classes += ` f${front}`;
  if (back !== undefined && !isOwnColour(back)) classes += ` b${back}`;
  if (style.inverse && foreground === undefined) classes += ' b-inverse';
  if (style.inverse && background === undefined) classes += ' f-inverse';
  if (style.bold) classes += ' bold';
  if (style.dim) classes += ' dim';
  if (style.italic) classes += ' italic';
  if (style.underline) classes += ' underline';
  if (style.strike) classes += ' strike';
  if (style.hidden) classes += ' hidden';
  return classes.slice(1);
}
