const SVG = 'http://www.w3.org/2000/svg';

/** Strokes on a grid of 16, in the colour of the text around. */
const paths = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  slash: 'M8 2.75a5.25 5.25 0 1 0 0 10.5a5.25 5.25 0 0 0 0-10.5zM4.3 4.3l7.4 7.4',
  alert: 'M8 2.75a5.25 5.25 0 1 0 0 10.5a5.25 5.25 0 0 0 0-10.5zM8 5.25v3.5M8 10.6v.4',
  waiting: 'M8 2.75a5.25 5.25 0 1 0 0 10.5a5.25 5.25 0 0 0 0-10.5zM8 5.25V8l1.9 1.3',
  stop: 'M4.5 4.5h7v7h-7z',
  clear: 'M2.5 4h11M6 4V2.75h4V4M4 4l.6 9.25h6.8L12 4M6.75 6.75v3.75M9.25 6.75v3.75',
  book: 'M8 4.5C6.6 3.3 4.7 3 2.5 3v9c2.2 0 4.1.3 5.5 1.5C9.4 12.3 11.3 12 13.5 12V3c-2.2 0-4.1.3-5.5 1.5zM8 4.5v9',
  copy: 'M5.75 5.75h7.5v7.5h-7.5zM3.5 10.25h-.75v-7.5h7.5v.75',
  run: 'M5 3.25v9.5l7.75-4.75z',
  down: 'M8 3v10M3.75 8.75L8 13l4.25-4.25',
  chevron: 'M4.5 6.25L8 9.75l3.5-3.5',
  // The mark: what seaweed holds on with, and something that is held.
  mark:
    'M5.5 2C2.7 3.8 2.6 7.7 5.1 9.3c1 .6 1.9.8 2.9.8s1.9-.2 2.9-.8c2.5-1.6 2.4-5.5-.4-7.3' +
    'M8 10.1V14M8 10.1c0 2.3-1.5 3.6-3.7 3.9M8 10.1c0 2.3 1.5 3.6 3.7 3.9' +
    'M7.5 5.9a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0',
} as const;

type IconName = keyof typeof paths;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}
