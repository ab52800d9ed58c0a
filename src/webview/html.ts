import purifier, { type Config } from 'dompurify';
import { el } from './dom';
import { plural } from './format';

// Layout of large tables takes seconds whatever the sanitiser: the first rows are what a person reads.
const MAX_ROWS = 500;
const MAX_UNITS = 4_000_000;

const config: Config = {
  USE_PROFILES: { html: true, svg: true, mathMl: true },
  ADD_TAGS: ['style'],
  FORBID_TAGS: [
    'form',
    'input',
    'button',
    'textarea',
    'select',
    'option',
    'dialog',
    'audio',
    'video',
  ],
  FORBID_ATTR: ['autofocus', 'tabindex', 'contenteditable', 'popover'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#|data:image\/(?:png|jpeg|gif|webp|svg\+xml)[;,])/i,
  RETURN_DOM_FRAGMENT: true,
};

/**
 * HTML of some output as an element. It is cleaned of everything that runs, asks or loads, and its styles reach nothing
 * else: they end at a shadow root. They do reach that root's host, whose own word is the last where it is `!important`, so
 * the host stands in a frame that holds it from outside.
 */
export function drawHtml(html: string): HTMLElement {
  const frame = el('div', { class: 'html' });
  if (html.length > MAX_UNITS) {
    frame.append(
      el('div', { class: 'gap' }, `… HTML of ${plural(html.length, 'character')} left out`),
    );
    return frame;
  }
  // A document of its own is inert: nothing in it runs or loads while it is being cut and cleaned.
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  const surplus = cutRows(parsed);
  for (const style of parsed.head.querySelectorAll('style')) parsed.body.prepend(style);
  const host = el('div');
  frame.append(host);
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [sheet()];
  const clean = purifier.sanitize(parsed.body, config) as unknown as DocumentFragment;
  nameDistantPictures(clean);
  root.append(clean);
  if (surplus > 0) root.append(el('div', { class: 'gap' }, `… ${plural(surplus, 'row')} left out`));
  return frame;
}

/** Nothing is fetched for output, so a picture from elsewhere is named instead of shown broken. */
function nameDistantPictures(fragment: DocumentFragment): void {
  for (const image of fragment.querySelectorAll('img:not([src^="data:" i])')) {
    const source = image.getAttribute('src') ?? '';
    const name = image.getAttribute('alt') || source.slice(0, 200) || 'without an address';
    image.replaceWith(el('span', { class: 'gap', title: source }, `[picture not loaded: ${name}]`));
  }
}

function cutRows(document: Document): number {
  const rows = [...document.querySelectorAll('tbody tr, table > tr')];
  for (const row of rows.slice(MAX_ROWS)) row.remove();
  return Math.max(0, rows.length - MAX_ROWS);
}

function sheet(): CSSStyleSheet {
  const styles = new CSSStyleSheet();
  styles.replaceSync(`
    :host { display: block; overflow-x: auto; }
    table { border-collapse: collapse; border: 0; font-variant-numeric: tabular-nums; }
    th, td { padding: 3px 12px 3px 0; border: 0; text-align: right; vertical-align: top; white-space: nowrap; }
    th { font-weight: 600; }
    tbody th { font-weight: 400; color: var(--hf-quiet); }
    thead th { border-bottom: 1px solid var(--hf-line); }
    tbody tr + tr > * { border-top: 1px solid var(--hf-row-line); }
    tbody tr:hover > * { background: var(--vscode-list-hoverBackground); }
    caption { caption-side: bottom; text-align: start; color: var(--hf-quiet); padding-top: 4px; }
    img, svg { max-width: 100%; height: auto; }
    a { color: var(--vscode-textLink-foreground); }
    pre, code { font-family: var(--hf-mono); font-size: inherit; }
    p:first-child, h1:first-child, h2:first-child, h3:first-child { margin-top: 0; }
    .gap { color: var(--hf-quiet); font-style: italic; padding-top: 4px; }
  `);
  return styles;
}
