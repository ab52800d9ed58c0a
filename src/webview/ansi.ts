import type { StyleTable, TextStyle } from './style';

/** What a terminal would do with the text. Columns and rows count from the cursor; `n` is at least 1. */
export interface AnsiSink {
  print(text: string, style: TextStyle | undefined): void;
  lineFeed(): void;
  carriageReturn(): void;
  back(n: number): void;
  forward(n: number): void;
  up(n: number): void;
  down(n: number): void;
  /** Column from 0. */
  toColumn(column: number): void;
  eraseLine(part: 'after' | 'before' | 'all'): void;
  /** The line from the cursor on, and all lines below it. */
  eraseBelow(): void;
  eraseAll(): void;
}

/* eslint-disable no-control-regex -- control characters are what this file is about */
const CONTROL = /[\0-\x08\n-\x1f\x7f\x9b\x9d]/g;
const INTERMEDIATES = /[ -/]*/y;
const CSI = /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])?/y;
// Ends by BEL or ST; the other strings (DCS, SOS, PM, APC) are read over in the same way.
const STRING = /(?:\x1b[\]PX^_]|\x9d)([^\x07\x1b\x9c]*)(\x07|\x9c|\x1b\\)?/y;
/* eslint-enable no-control-regex */

// Longer than any link; something that never ends must not swallow the output for good.
const LONGEST_SEQUENCE = 8_192;

/** Reads one stream's text. A sequence may be split anywhere over calls. */
export class AnsiReader {
  private rest = '';
  private style: TextStyle | undefined;

  constructor(
    private readonly sink: AnsiSink,
    private readonly styles: StyleTable,
  ) {}

  write(chunk: string): void {
    const text = this.rest === '' ? chunk : this.rest + chunk;
    this.rest = '';
    let from = 0;
    while (from < text.length) {
      CONTROL.lastIndex = from;
      const at = CONTROL.exec(text)?.index ?? text.length;
      if (at > from) this.sink.print(text.slice(from, at), this.style);
      if (at === text.length) return;
      const next = this.control(text, at);
      if (next === undefined) {
        this.keep(text.slice(at));
        return;
      }
      from = next;
    }
  }

  private keep(unfinished: string): void {
    if (unfinished.length < LONGEST_SEQUENCE) this.rest = unfinished;
    else this.sink.print(unfinished.slice(1), this.style);
  }

  /** Where the text goes on behind the control at `at`; undefined: it isn't complete yet. */
  private control(text: string, at: number): number | undefined {
    switch (text[at]) {
      case '\n':
      case '\v':
      case '\f':
        this.sink.lineFeed();
        return at + 1;
      case '\r':
        return this.carriageReturn(text, at);
      case '\b':
        this.sink.back(1);
        return at + 1;
      case '\x1b':
        return this.escape(text, at);
      case '\x9b':
        return this.csi(text, at);
      case '\x9d':
        return this.string(text, at);
      default:
        return at + 1;
    }
  }

  /** CR LF is one line end: taken as such, the row never counts as one that moves. */
  private carriageReturn(text: string, at: number): number {
    if (text[at + 1] === '\n') {
      this.sink.lineFeed();
      return at + 2;
    }
    this.sink.carriageReturn();
    return at + 1;
  }

  private escape(text: string, at: number): number | undefined {
    const kind = text[at + 1];
    if (kind === undefined) return undefined;
    if (kind === '[') return this.csi(text, at);
    if (']PX^_'.includes(kind)) return this.string(text, at);
    // Character sets and the like: intermediates, then one final character.
    INTERMEDIATES.lastIndex = at + 1;
    INTERMEDIATES.exec(text);
    const end = INTERMEDIATES.lastIndex;
    return end < text.length ? end + 1 : undefined;
  }

  private csi(text: string, at: number): number | undefined {
    CSI.lastIndex = at;
    const match = CSI.exec(text);
    if (match === null) return at + 1;
    const [all, parameters = '', final] = match;
    const end = at + all.length;
    if (final === undefined) return end < text.length ? end : undefined;
    this.perform(parameters, final);
    return end;
  }

  private string(text: string, at: number): number | undefined {
    STRING.lastIndex = at;
    const match = STRING.exec(text);
    if (match === null) return at + 1;
    const [all, body = '', terminator] = match;
    const end = at + all.length;
    if (terminator === undefined) {
      // ESC may be the first half of the terminator.
      const undecided = end === text.length || (text[end] === '\x1b' && end + 1 === text.length);
      return undecided ? undefined : end;
    }
    const isOsc = text[at] === '\x9d' || text[at + 1] === ']';
    if (isOsc) this.osc(body);
    return end;
  }

  /** A hyperlink: `8;parameters;target`, where an empty target ends it. The other OSCs mean nothing here. */
  private osc(body: string): void {
    if (!body.startsWith('8;')) return;
    const target = body.slice(body.indexOf(';', 2) + 1);
    this.style = this.styles.withLink(this.style, target === '' ? undefined : target);
  }

  private perform(parameters: string, final: string): void {
    const { sink } = this;
    const first = Number.parseInt(parameters, 10);
    const n = first > 0 ? first : 1;
    switch (final) {
      case 'm':
        // `>` and `?` mark private sequences that only look like colours.
        if (!/^[<-?]/.test(parameters)) this.style = this.styles.afterSgr(this.style, parameters);
        return;
      case 'A':
        return sink.up(n);
      case 'B':
        return sink.down(n);
      case 'C':
        return sink.forward(n);
      case 'D':
        return sink.back(n);
      case 'E':
        sink.down(n);
        return sink.carriageReturn();
      case 'F':
        sink.up(n);
        return sink.carriageReturn();
      case 'G':
        return sink.toColumn(n - 1);
      case 'K':
        return sink.eraseLine(first === 1 ? 'before' : first === 2 ? 'all' : 'after');
      case 'J':
        if (first === 2 || first === 3) sink.eraseAll();
        else if (first !== 1) sink.eraseBelow();
        return;
    }
  }
}
