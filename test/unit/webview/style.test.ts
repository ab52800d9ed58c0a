import { describe, expect, it } from 'vitest';
import type { TextStyle } from '../../../src/webview/style';
import { blocksAfter } from './rows';

function styleOf(text: string): Partial<TextStyle> | undefined {
  const segments = blocksAfter(text).flatMap(({ rows }) => rows.flatMap((row) => row.segments));
  return segments.find((segment) => segment.text.includes('x'))?.style;
}

describe('colours and attributes', () => {
  it.each<[string, string, Partial<TextStyle> | undefined]>([
    ['one of eight', '\x1b[31mx', { foreground: '1' }],
    ['one of the bright eight', '\x1b[92mx', { foreground: '10' }],
    ['backgrounds', '\x1b[44;103mx', { background: '11' }],
    ['the first 16 of 256 are the theme’s', '\x1b[38;5;12mx', { foreground: '12' }],
    ['the cube', '\x1b[38;5;208mx', { foreground: '#ff8700' }],
    ['the greys', '\x1b[48;5;244mx', { background: '#808080' }],
    ['true colour', '\x1b[38;2;1;2;255mx', { foreground: '#0102ff' }],
    ['true colour by colons', '\x1b[38:2::1:2:255mx', { foreground: '#0102ff' }],
    [
      'a colour between attributes',
      '\x1b[1;38;5;1;4mx',
      { bold: true, foreground: '1', underline: true },
    ],
    [
      'an underline’s colour is read over',
      '\x1b[58;2;1;2;3;3mx',
      { italic: true, foreground: undefined },
    ],
    ['curly underlines', '\x1b[4:3mx', { underline: true }],
    ['no underline', '\x1b[4m\x1b[4:0mx', undefined],
    [
      'all attributes',
      '\x1b[1;2;3;4;7;8;9mx',
      {
        bold: true,
        dim: true,
        italic: true,
        underline: true,
        inverse: true,
        hidden: true,
        strike: true,
      },
    ],
    ['all off again', '\x1b[1;2;3;4;7;8;9m\x1b[22;23;24;27;28;29mx', undefined],
    ['default colours', '\x1b[31;42m\x1b[39;49mx', undefined],
    ['a reset', '\x1b[1;31m\x1b[mx', undefined],
    ['private sequences are no colours', '\x1b[>4;2mx', undefined],
    ['a link', '\x1b]8;id=1;https://x.org/?a;b\x1b\\x', { link: 'https://x.org/?a;b' }],
    ['a link outlives a reset', '\x1b]8;;https://x.org\x07\x1b[0mx', { link: 'https://x.org' }],
    ['a link that ended', '\x1b]8;;https://x.org\x07y\x1b]8;;\x07x', undefined],
  ])('%s', (_name, text, style) => {
    if (style === undefined) expect(styleOf(text)).toBeUndefined();
    else expect(styleOf(text)).toMatchObject(style);
  });

  it('tags in coloured text are text', () => {
    const [block] = blocksAfter('\x1b[31m<b>x</b>\x1b[0m\n');
    expect(block?.rows[0]?.segments).toMatchObject([
      { text: '<b>x</b>', style: { foreground: '1' } },
    ]);
  });
});
