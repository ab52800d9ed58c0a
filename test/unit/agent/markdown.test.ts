import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { confirmationOf } from '../../../src/editor/agent/confirmation';
import { codeBlocksIn, fenced } from '../../../src/editor/agent/markdown';

describe('code in Markdown', () => {
  it('cannot end its own block', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('`', '``', '```', '\n', '\n```\n', '~~~', 'x', ' ')),
        (pieces) => {
          const code = pieces.join('');
          const blocks = codeBlocksIn(`${fenced(code, 'python')}after`);
          expect(blocks).toEqual([{ language: 'python', code: code.replace(/\n$/, '') }]);
        },
      ),
    );
  });

  it('is found in a prompt with its language, closed or not', () => {
    const prompt = 'Run\n```Python title\nx = 1\n\n```\nand\n~~~\n```\ny\n~~~\n````js\nz';
    expect(codeBlocksIn(prompt)).toEqual([
      { language: 'python', code: 'x = 1\n' },
      { language: '', code: '```\ny' },
      { language: 'js', code: 'z' },
    ]);
    expect(codeBlocksIn('no `code` here')).toEqual([]);
  });
});

describe('a confirmation', () => {
  const asked = {
    code: 'print("```")\n```\n**not bold**',
    language: { id: 'python', name: 'Python' },
    session: 'lab [x](command:y)',
    holders: ['This window', 'Chat “*a*”'],
    waitMs: 30_000,
    timeoutMs: undefined,
  };

  it('shows all of the code, the session, who holds it, and for how long it may run', () => {
    const { title, message } = confirmationOf(asked);
    expect(title).toBe('Run this Python in the session “lab xcommand:y”?');
    expect(codeBlocksIn(message)).toEqual([{ language: 'python', code: asked.code }]);
    expect(message).toContain('**lab \\[x\\]\\(command\\:y\\)**');
    expect(message).toContain('held by This window, Chat “\\*a\\*”');
    expect(message).toContain('as long as it needs; the chat waits up to 30 s');
  });

  it('says when it is stopped, and that the session is a new one', () => {
    const { message } = confirmationOf({ ...asked, holders: [], timeoutMs: 90_000 });
    expect(message).toContain('a new session. It is stopped after 1 min 30 s');
  });

  it('warns of characters that cannot be seen', () => {
    expect(confirmationOf(asked).message).not.toContain('invisible');
    const plain = 'if a:\r\n\tprint("é 漢 😀")';
    expect(confirmationOf({ ...asked, code: plain }).message).not.toContain('invisible');
    for (const mark of ['\u202e', '\u3164', '\u00ad', '\u{e0041}', '\b', '\u001b', '\u0085']) {
      const { message } = confirmationOf({ ...asked, code: `if a:${mark} # } x` });
      expect(message).toContain('invisible characters');
    }
  });
});
