import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duration, fileName, leftOut, size, wellFormed } from '../../../src/webview/format';
import { InputHistory } from '../../../src/webview/history';
import { linkTarget, places } from '../../../src/webview/links';
import { tokens } from '../../../src/webview/tokens';

describe('words for people', () => {
  it.each([
    [0, '0 ms'],
    [999.6, '1.0 s'],
    [12_340, '12.3 s'],
    [59_970, '1 m 00 s'],
    [125_000, '2 m 05 s'],
    [3_725_000, '1 h 02 m'],
  ])('%d ms reads %s', (ms, words) => {
    expect(duration(ms)).toBe(words);
  });

  it('sizes', () => {
    expect([size(1), size(999), size(1_500), size(6_900_000)]).toEqual([
      '1 byte',
      '999 bytes',
      '1.5 kB',
      '6.9 MB',
    ]);
  });

  it('what was left out', () => {
    expect(leftOut(988_000, 6_000_000, 0, 1_000_000)).toBe('… 988,000 of 1,000,000 lines left out');
    expect(leftOut(1, 9, 2, 1)).toBe('… 1 line and 2 displays left out');
    expect(leftOut(0, 99_000_000, 0, 1)).toBe('… 99.0 MB of text left out');
  });

  it('file names of both kinds of path', () => {
    expect([fileName('/a b/c.py'), fileName('C:\\a\\c.py'), fileName('Untitled-1')]).toEqual([
      'c.py',
      'c.py',
      'Untitled-1',
    ]);
  });
});

describe('text for an address', () => {
  it('has no half characters, and is otherwise as it was', () => {
    expect(wellFormed('a\ud800b\udc00\ud83d\ude00é\ud83d')).toBe('a\ufffdb\ufffd😀é\ufffd');
    const unit = fc.constantFrom('a', '\ud83d', '\ude00', '日', '\n');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        expect(decodeURIComponent(encodeURIComponent(wellFormed(text)))).toBe(
          Buffer.from(text).toString(),
        );
      }),
    );
  });
});

describe('light colours for Python', () => {
  const kinds = (code: string): string[] =>
    tokens(code, 'python').flatMap(({ text, kind }) =>
      kind === undefined ? [] : [`${kind}:${text}`],
    );

  it('knows what is read at a glance', () => {
    expect(kinds('@cache\ndef f(x=0x1F): # "no"\n  return None or 1.5e3')).toEqual([
      'decorator:@cache',
      'definition:def',
      'number:0x1F',
      'comment:# "no"',
      'keyword:return',
      'constant:None',
      'definition:or',
      'number:1.5e3',
    ]);
  });

  it.each([
    ['a string with a hash', `s = "# no"`, ['string:"# no"']],
    ['three quotes over lines', `'''a\n"b"\n'''`, [`string:'''a\n"b"\n'''`]],
    ['prefixes', `rb'\\n'`, [`string:rb'\\n'`]],
    ['an escaped quote', String.raw`'it\'s'`, [String.raw`string:'it\'s'`]],
    ['a string that does not end', `x = "abc\ny`, ['string:"abc']],
    ['a keyword within a name', 'format = island', []],
    ['a matrix product is no decorator', 'a @ b', []],
  ])('%s', (_name, code, expected) => {
    expect(kinds(code)).toEqual(expected);
  });

  it('loses no character', () => {
    const piece = fc.constantFrom(
      '"',
      "'",
      '"""',
      '\\',
      '#',
      '\n',
      'def ',
      '@x',
      '1',
      'é',
      '😀',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const code = pieces.join('');
        expect(
          tokens(code, 'python')
            .map(({ text }) => text)
            .join(''),
        ).toBe(code);
      }),
    );
  });
});

describe('links', () => {
  it('places that a traceback names, for real files', () => {
    const text = '  File "/a b/c.py", line 3, in f\n  File "<string>", line 1\nE: x';
    expect(places(text)).toEqual([
      { text: '  ' },
      { text: 'File "/a b/c.py", line 3', target: { file: '/a b/c.py', line: 3 } },
      { text: ', in f\n  File "<string>", line 1\nE: x' },
    ]);
  });

  it.each([
    ['https://x.org/', { kind: 'web', address: 'https://x.org/' }],
    ['file:///a%20b/c.py#L7', { kind: 'file', file: '/a b/c.py', line: 7 }],
    ['file:///C:/x.py', { kind: 'file', file: 'C:/x.py', line: 1 }],
    ['javascript:alert(1)', undefined],
    ['command:workbench.action.quit', undefined],
    ['no address', undefined],
    ['file:///%ff', undefined],
  ])('%s', (address, target) => {
    expect(linkTarget(address)).toEqual(target);
  });
});

describe('what was typed before', () => {
  it('goes back and forth and keeps what is being typed', () => {
    const history = new InputHistory(['a', 'b']);
    const steps = [history.previous('dra'), history.previous('b'), history.previous('a')];
    expect(steps).toEqual(['b', 'a', undefined]);
    expect([history.next(), history.next(), history.next()]).toEqual(['b', 'dra', undefined]);
  });

  it('holds each entry once, the newest last', () => {
    const history = new InputHistory(['a', 'b']);
    history.add('a');
    expect(history.all).toEqual(['b', 'a']);
    expect(history.previous('')).toBe('a');
  });
});
