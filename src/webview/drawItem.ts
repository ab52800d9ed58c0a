import { el } from './dom';
import { drawRows, type Reveal } from './drawBlock';
import { plural, wellFormed } from './format';
import { drawHtml } from './html';
import { LineModel } from './lineModel';
import { shownMimeTypes, type Piece } from './protocol';
import type { Row } from './row';

type Data = Record<string, unknown>;

const LONGEST_TEXT = 200_000;

/** The richest part of a bundle that can be drawn. */
export function drawDisplay(data: Data, metadata: Data): HTMLElement {
  for (const type of shownMimeTypes) {
    const drawn = type in data ? drawAs(type, data, metadata) : undefined;
    if (drawn !== undefined) return drawn;
  }
  const types = Object.keys(data).join(', ');
  return el(
    'div',
    { class: 'gap' },
    `Nothing here can be shown${types === '' ? '' : ` (${types})`}.`,
  );
}

function drawAs(
  type: (typeof shownMimeTypes)[number],
  data: Data,
  metadata: Data,
): HTMLElement | undefined {
  const value = data[type];
  if (type === 'application/json') return drawText(JSON.stringify(value, undefined, 2));
  const text = textOf(value);
  if (text === undefined) return undefined;
  switch (type) {
    case 'text/html':
      return withCopy(drawHtml(text), textOf(data['text/plain']));
    case 'image/svg+xml':
      return drawImage(svgAddress(text), type, data, metadata);
    case 'image/png':
    case 'image/jpeg':
    case 'image/webp':
    case 'image/gif':
      return drawImage(`data:${type};base64,${text.replace(/\s+/g, '')}`, type, data, metadata);
    case 'text/markdown':
    case 'text/latex':
    case 'text/plain':
      return drawText(text);
  }
}

const svgAddress = (text: string): string =>
  `data:image/svg+xml,${encodeURIComponent(wellFormed(text))}`;

/** Notebooks write long text as a list of lines. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((line) => typeof line === 'string'))
    return value.join('');
  return undefined;
}

function withCopy(element: HTMLElement, text: string | undefined): HTMLElement {
  if (text !== undefined) element.dataset['copy'] = text;
  return element;
}

function drawImage(source: string, type: string, data: Data, metadata: Data): HTMLElement {
  const description = textOf(data['text/plain']);
  const image = el('img', { src: source, alt: description ?? 'Picture', decoding: 'async' });
  const own = metadata[type];
  const { width, height } = isRecord(own) ? own : metadata;
  if (typeof width === 'number') image.width = width;
  if (typeof height === 'number') image.height = height;
  return withCopy(el('div', { class: 'picture' }, image), description ?? '');
}

const isRecord = (value: unknown): value is Data => typeof value === 'object' && value !== null;

function drawText(text: string): HTMLElement {
  const shown = text.slice(0, LONGEST_TEXT);
  const element = el('div', { class: 'text' });
  element.append(drawRows(rowsOf(shown), { reveal: () => undefined, places: false }));
  if (shown.length === text.length) return element;
  const more = `… ${plural(text.length - shown.length, 'character')} left out`;
  return withCopy(el('div', {}, element, el('div', { class: 'gap' }, more)), text);
}

/** A traceback, in which places in files are links and the last line says it all. */
export function drawError(piece: Extract<Piece, { kind: 'error' }>, reveal: Reveal): HTMLElement {
  const head = piece.value === '' ? piece.name : `${piece.name}: ${piece.value}`;
  const text = piece.traceback.trimEnd() === '' ? head : piece.traceback.trimEnd();
  const rows = rowsOf(text);
  const start = rows.findLastIndex((row) => row.text.startsWith(piece.name));
  const cut = start === -1 ? rows.length : start;
  const element = el('div', { class: 'error-output' });
  element.append(drawRows(rows.slice(0, cut), { reveal, places: true }));
  const summary = el('div', { class: 'error-summary' });
  summary.append(drawRows(rows.slice(cut), { reveal, places: true }));
  element.append(summary);
  return withCopy(element, text);
}

/** What was asked and what was answered, as it would stand in a terminal. */
export function drawAnswer(piece: Extract<Piece, { kind: 'answer' }>): HTMLElement {
  const answer = el('span', { class: 'answer-text' }, piece.text ?? '••••••');
  return el('div', { class: 'answer' }, piece.prompt, answer);
}

function rowsOf(text: string): Row[] {
  const rows: Row[] = [];
  const model = new LineModel({
    added: (block) => blocks.push(block),
    changed: () => undefined,
    settled: () => undefined,
    erased: () => blocks.splice(0),
  });
  const blocks: { readonly rows: Row[] }[] = [];
  model.write('stdout', text);
  for (const block of blocks) rows.push(...block.rows);
  return rows;
}
