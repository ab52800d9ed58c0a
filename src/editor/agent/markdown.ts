/** A block of code in Markdown that nothing in the code can end. */
export function fenced(code: string, language = ''): string {
  const longest = Math.max(0, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${code}${code.endsWith('\n') ? '' : '\n'}${fence}\n`;
}

/** Text that Markdown shows as it is. */
export function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~&:@]/g, '\\$&').replace(/\s+/g, ' ');
}

export interface CodeBlock {
  /** The first word behind the fence, in small letters; empty where there is none. */
  readonly language: string;
  readonly code: string;
}

const opening = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$/;

/** The fenced blocks of a text, in order. One that is not closed goes to the end, as in CommonMark. */
export function codeBlocksIn(text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { readonly closing: RegExp; readonly language: string; lines: string[] } | undefined;
  const close = (): void => {
    if (open) blocks.push({ language: open.language, code: open.lines.join('\n') });
    open = undefined;
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (open) {
      if (open.closing.test(line)) close();
      else open.lines.push(line);
      continue;
    }
    const [, fence, language = ''] = opening.exec(line) ?? [];
    if (fence === undefined) continue;
    const closing = new RegExp(`^ {0,3}${fence.charAt(0)}{${fence.length},}[ \\t]*$`);
    open = { closing, language: language.toLowerCase(), lines: [] };
  }
  close();
  return blocks;
}
