import { describe, expect, it } from 'vitest';
import { pickCode, pickDocument, type TextRange } from '../../src/editor/selection/pickCode';

/**
 * A document with its selections marked in it: `|` is a bare cursor, `«` and `»` stand around a selection.
 */
function marked(text: string): { lines: string[]; selections: TextRange[] } {
  const selections: TextRange[] = [];
  let start: TextRange['start'] | undefined;
  const lines = text.split('\n').map((marks, line) => {
    let plain = '';
    for (const character of marks) {
      const here = { line, character: plain.length };
      if (character === '|') selections.push({ start: here, end: here });
      else if (character === '«') start = here;
      else if (character === '»') selections.push({ start: start ?? here, end: here });
      else plain += character;
    }
    return plain;
  });
  return { lines, selections };
}

function pick(
  text: string,
): { code: string; line: number; advanceTo: number | undefined } | undefined {
  const { lines, selections } = marked(text);
  return pickCode(lines, selections);
}

const code = (text: string): string | undefined => pick(text)?.code;

describe('a selection', () => {
  it('is sent as it is', () => {
    expect(pick('a = 1\nprint(«a + 1»)\n')).toEqual({ code: 'a + 1', line: 2, advanceTo: 2 });
  });

  it('that begins inside the leading white space gets the indentation of its line', () => {
    expect(code('if a:\n  «  x = 1\n    y = 2»\n')).toBe('    x = 1\n    y = 2');
  });

  it('that begins mid-line in an indented line gets that indentation, so that the lines agree', () => {
    expect(code('def f():\n    x = «g(1)\n    y = 2»\n')).toBe('    g(1)\n    y = 2');
  });

  it('within one line gets nothing added', () => {
    expect(code('def f():\n    x = «g(1)»\n')).toBe('g(1)');
  });

  it('keeps the bytes of a string over several lines in an indented block', () => {
    const text = 'if a:\n«    s = """one\n  two\n\tthree  \n"""\n    print(s)»';
    expect(code(text)).toBe('    s = """one\n  two\n\tthree  \n"""\n    print(s)');
  });

  it('loses blank lines around it, and the line follows', () => {
    expect(pick('«\n\n  \nx = 1\n\n»y = 2')).toEqual({ code: 'x = 1', line: 4, advanceTo: 5 });
  });

  it('of nothing but white space means the statement there', () => {
    expect(code('x = 1«  »\n')).toBe('x = 1  ');
  });

  it('that ends at the start of a line does not take that line', () => {
    expect(pick('«x = 1\n»y = 2\n')).toEqual({ code: 'x = 1', line: 1, advanceTo: 1 });
  });
});

describe('several selections', () => {
  it('go in document order, with the lines between them kept for tracebacks', () => {
    const lines = ['a = 1', 'skip()', '', 'b = 2'];
    const whole = (line: number): TextRange => ({
      start: { line, character: 0 },
      end: { line, character: 5 },
    });
    expect(pickCode(lines, [whole(3), whole(0)])).toEqual({
      code: 'a = 1\n\n\nb = 2',
      line: 1,
      advanceTo: undefined,
    });
  });

  it('in one line follow each other', () => {
    expect(code('«a»; «b»')).toBe('a\nb');
  });

  it('with two cursors in one statement send it once', () => {
    expect(code('for x in y:\n    |a\n    |b\n')).toBe('for x in y:\n    a\n    b');
  });
});

describe('a bare cursor', () => {
  it('means the whole statement, over brackets and strings', () => {
    expect(code('x = [\n  1,\n|  2,\n]\ny = 1')).toBe('x = [\n  1,\n  2,\n]');
    expect(code('s = """\n|  # not a comment\n"""\ny = 1')).toBe('s = """\n  # not a comment\n"""');
    expect(code('x = 1 + \\\n|  2\ny')).toBe('x = 1 + \\\n  2');
  });

  it.each([
    ['on the decorator', '@a\n@b|(1,\n  2)\ndef f():\n    return 1\nx'],
    ['on the def', '@a\n@b(1,\n  2)\ndef f|():\n    return 1\nx'],
    ['in the body', '@a\n@b(1,\n  2)\ndef f():\n    return| 1\nx'],
  ])('%s of a decorated function takes the decorators along', (_, text) => {
    expect(code(text)).toBe('@a\n@b(1,\n  2)\ndef f():\n    return 1');
  });

  it.each(['if| a:', 'elif| b:', 'else|:', '    |y'])(
    'at "%s" means the whole compound statement with its clauses',
    (place) => {
      const text = 'if a:\n    x\nelif b:\n    y\n\n# between\nelse:\n    z\nq';
      expect(code(text.replace(place.replace('|', ''), place))).toBe(
        'if a:\n    x\nelif b:\n    y\n\n# between\nelse:\n    z',
      );
    },
  );

  it('at try, except and finally means all of it', () => {
    const text = 'try:\n    a\nexcept E:\n    b\nfinally|:\n    c\nd';
    expect(pick(text)).toEqual({
      code: 'try:\n    a\nexcept E:\n    b\nfinally:\n    c',
      line: 1,
      advanceTo: 6,
    });
  });

  it('on a blank line inside a function means the function', () => {
    expect(code('def f():\n    a\n|\n    b\nc')).toBe('def f():\n    a\n\n    b');
  });

  it('on a blank line or a comment means the next statement below', () => {
    expect(pick('a\n|\n# about b\nb\nc')).toEqual({ code: 'b', line: 4, advanceTo: 4 });
    expect(pick('a\n\n# about| b\nb\nc')).toEqual({ code: 'b', line: 4, advanceTo: 4 });
  });

  it('on an indented comment that ends a block means the block', () => {
    expect(code('def f():\n    a\n    # end|\nb')).toBe('def f():\n    a');
  });

  it('with nothing below has nothing to run', () => {
    expect(pick('a\n\n|')).toBeUndefined();
    expect(pick('|')).toBeUndefined();
    expect(pick('# only a comment|')).toBeUndefined();
  });

  it('in a main guard means the statement of the block, indented as it is', () => {
    const text =
      "def f(): ...\n\nif __name__ == '__main__':\n    a = 1\n    for x in y:\n|        f()\n    b\nz";
    expect(pick(text)).toEqual({
      code: '    for x in y:\n        f()',
      line: 5,
      advanceTo: 6,
    });
  });

  it('on a main guard itself means the whole block', () => {
    expect(pick('if| __name__ == "__main__":  # go\n    a\n    b\nz')).toEqual({
      code: 'if __name__ == "__main__":  # go\n    a\n    b',
      line: 1,
      advanceTo: 3,
    });
  });

  it('takes statements that share a line together', () => {
    expect(code('a = 1; b| = 2\nc')).toBe('a = 1; b = 2');
  });

  it('takes an async function and a match whole', () => {
    expect(code('async def f():\n    await| x\ny')).toBe('async def f():\n    await x');
    expect(code('match x:\n    case 1:\n        a\n    case _:\n       | b\ny')).toBe(
      'match x:\n    case 1:\n        a\n    case _:\n        b',
    );
  });

  it('is not misled by a bracket that is never closed', () => {
    expect(code('def f(\n\ndef g():\n    return| 1\nx')).toBe('def g():\n    return 1');
    expect(code('def f(|\n\ndef g():\n    return 1\nx')).toBe('def f(');
  });

  it('is not misled by quotes and brackets in comments, strings, escapes and magics', () => {
    expect(code("a = 'it\\'s (' # don't [\nb| = 2\nc")).toBe('b = 2');
    expect(code("!echo it's (\nb| = 2\nc")).toBe('b = 2');
    expect(code("a = 'never closed\nb| = 2\nc")).toBe('b = 2');
    expect(code('a = "one \\\n# two"\nb| = 2\nc')).toBe('b = 2');
  });
});

describe('to advance', () => {
  it('goes to the next statement, over blank lines and comments', () => {
    expect(pick('a|\n\n# c\n\nb')?.advanceTo).toBe(4);
  });

  it('goes to an empty last line, so that the last statement is not run again', () => {
    expect(pick('a\nb|\n')?.advanceTo).toBe(2);
  });

  it('stays at the end of the document', () => {
    expect(pick('a\nb|')?.advanceTo).toBeUndefined();
  });
});

describe('the whole document', () => {
  it('is sent without blank lines around it', () => {
    expect(pickDocument(['', 'x = 1', '', 'y = 2', '', ''])).toEqual({
      code: 'x = 1\n\ny = 2',
      line: 2,
      advanceTo: undefined,
    });
    expect(pickDocument(['', '  '])).toBeUndefined();
  });
});

it('looks at each line of a long document a few times, wherever the cursor stands', () => {
  const block = [
    '@deco(1,',
    '  2)',
    'def f(a, b=3):',
    '    """doc',
    '    string"""',
    '    if a:',
    "        print({'a': 1,",
    "               'b': 2})",
    '    return a  # done',
    '',
  ];
  const looksPerLine = (lines: readonly string[], line: number): number => {
    let looks = 0;
    const counted = new Proxy(lines, {
      get: (target, key, receiver): unknown => {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    const cursor = { line, character: 3 };
    expect(pickCode(counted, [{ start: cursor, end: cursor }])).toBeDefined();
    return looks / lines.length;
  };
  const wellClosed = Array.from({ length: 1_000 }, () => block).flat();
  const neverClosed = Array.from({ length: 10_000 }, (_, i) => (i % 2 ? 'x = (' : 'def f(a):'));
  const main = ['if __name__ == "__main__":', ...Array.from({ length: 9_999 }, () => '    # no')];
  for (const lines of [wellClosed, neverClosed, [...main, '    a']])
    for (const line of [0, 5_001, 9_996]) expect(looksPerLine(lines, line)).toBeLessThan(5);
});
