import type { KernelOutput, MimeBundle } from '../../kernel/output';

const LONGEST = 400_000;

/** Part of an output. Positions count the characters of all that was put out so far. */
export interface OutputPage {
  readonly text: string;
  /** Where the text begins; later than asked for where what came before is not kept. */
  readonly from: number;
  readonly to: number;
}

/** A run's output as text for a model: everything in its place, bounded from the front, readable on from any position. */
export class OutputText {
  private chunks: string[] = [];
  private keptFrom = 0;
  private end = 0;

  constructor(private readonly longest = LONGEST) {}

  /** Characters so far, those included that are no longer kept. */
  get length(): number {
    return this.end;
  }

  add(output: KernelOutput): void {
    switch (output.type) {
      case 'stream':
        return this.append(output.text);
      case 'error':
        return this.paragraph(output.traceback);
      case 'gap':
        return this.paragraph(`[${output.lines} lines were left out here]`);
      case 'clear':
        if (output.wait) return;
        this.chunks = [];
        this.keptFrom = this.end;
        return;
      case 'result':
      case 'display':
      case 'updateDisplay':
        return this.paragraph(displayInText(output.data));
    }
  }

  /** At most `limit` characters from a position on; a negative one counts from the end. Ends with a line where it can. */
  page(from: number, limit: number): OutputPage {
    const begin = Math.min(Math.max(from < 0 ? this.end + from : from, this.keptFrom), this.end);
    const rest = this.text().slice(begin - this.keptFrom);
    if (rest.length <= limit) return { text: rest, from: begin, to: this.end };
    const cut = wholeCharacters(rest.slice(0, limit));
    const lineEnd = cut.lastIndexOf('\n');
    const text = lineEnd > limit / 2 ? cut.slice(0, lineEnd + 1) : cut;
    return { text, from: begin, to: begin + text.length };
  }

  /** At most `limit` characters of the end, and none before `from`. Begins with a line where it can. */
  tail(from: number, limit: number): OutputPage {
    const page = this.page(Math.max(from, this.end - limit), limit);
    if (page.from === from) return page;
    const lineEnd = page.text.indexOf('\n');
    const skipped = lineEnd >= 0 && lineEnd < limit / 2 ? lineEnd + 1 : 0;
    return { ...page, text: page.text.slice(skipped), from: page.from + skipped };
  }

  private append(text: string): void {
    if (text === '') return;
    this.chunks.push(text);
    this.end += text.length;
    // Cutting costs by what is kept: done at twice the limit, it costs each character a constant.
    if (this.end - this.keptFrom > 2 * this.longest) this.cut();
  }

  private cut(): void {
    const kept = this.text().slice(-this.longest);
    this.chunks = [kept];
    this.keptFrom = this.end - kept.length;
  }

  private paragraph(text: string): void {
    if (text === '') return;
    const last = this.chunks.at(-1);
    const separator = last === undefined || last.endsWith('\n') ? '' : '\n';
    this.append(`${separator}${text}${text.endsWith('\n') ? '' : '\n'}`);
  }

  private text(): string {
    const [only = '', ...more] = this.chunks;
    if (more.length === 0) return only;
    const joined = this.chunks.join('');
    this.chunks = [joined];
    return joined;
  }
}

/** Without the first half of a pair that the cut went through. */
function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

function displayInText(data: MimeBundle): string {
  const text = data['text/plain'];
  const others = Object.keys(data).filter((type) => type !== 'text/plain' && type !== 'text/html');
  const shown = others.map((type) => `[${type}: shown in the Holdfast panel]`);
  return [...(typeof text === 'string' ? [text] : []), ...shown].join('\n');
}

// Colours, moves of the cursor, titles and links of terminals.
// eslint-disable-next-line no-control-regex
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** As a terminal would leave it: no colours, and of a line that was written over, what stands at last. */
export function asRead(text: string): string {
  return text
    .replace(escapes, '')
    .split('\n')
    .map((line) => {
      const whole = line.endsWith('\r') ? line.slice(0, -1) : line;
      return whole.slice(whole.lastIndexOf('\r') + 1);
    })
    .join('\n');
}
