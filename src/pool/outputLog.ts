import type { KernelOutput, MimeBundle } from '../kernel/output';
import type { DisplayOutput } from './types';
import { isHighSurrogate, utf8Length, utf8Tail } from './utf8';

/** A run's output as its result gives it back. Bytes are UTF-8. */
export interface OutputSummary {
  readonly output: string;
  readonly truncated: boolean;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly outputLines: number;
  readonly outputBytes: number;
  readonly displayOutputs: readonly DisplayOutput[];
}

/**
 * Collects a run's output in bounded memory: the last `limitBytes` of its text, cut at a line, and all of its
 * displays. Totals count everything that went by, also what a clear or the limit dropped.
 */
export class OutputLog {
  private chunks: string[] = [];
  private keptBytes = 0;
  private totalBytes = 0;
  private newlines = 0;
  private endsInLine = false;
  private dropped = false;
  private clearOnNext = false;
  /** The kept text begins within a line. */
  private cutInLine = false;
  /** The first half of a surrogate pair whose other half comes with the next chunk. */
  private halfPair = '';
  private displays: DisplayOutput[] = [];

  constructor(private readonly limitBytes: number) {}

  add(output: KernelOutput): void {
    if (output.type === 'clear') {
      if (output.wait) this.clearOnNext = true;
      else this.clear();
      return;
    }
    if (this.clearOnNext) this.clear();
    switch (output.type) {
      case 'stream':
        this.text(output.text);
        return;
      case 'result':
        this.result(output.data, output.metadata);
        return;
      case 'error':
        this.paragraph(output.traceback);
        return;
      case 'display':
        this.displays.push(display(output.data, output.metadata, output.displayId));
        return;
      case 'updateDisplay':
        this.update(output.displayId, output.data, output.metadata);
        return;
      case 'gap':
        this.gap(output.lines, output.bytes);
        return;
    }
  }

  /** A line of our own before what the code prints. */
  heading(line: string): void {
    this.paragraph(line);
  }

  /** A line of our own after all that the code printed. */
  closing(line: string): void {
    this.flushHalfPair();
    this.append(`${this.endsInLine ? '\n' : ''}${line}`);
  }

  summary(): OutputSummary {
    this.flushHalfPair();
    const output = this.keptText();
    return {
      output,
      truncated: this.dropped,
      totalLines: this.newlines + (this.endsInLine ? 1 : 0),
      totalBytes: this.totalBytes,
      outputLines: lineCount(output),
      outputBytes: utf8Length(output),
      displayOutputs: [...this.displays],
    };
  }

  private text(arrived: string): void {
    if (arrived === '' && this.halfPair === '') return;
    let text = this.halfPair + arrived;
    this.halfPair = '';
    if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
      this.halfPair = text.slice(-1);
      text = text.slice(0, -1);
    }
    this.append(text);
  }

  private append(text: string): void {
    if (text === '') return;
    const bytes = utf8Length(text);
    this.totalBytes += bytes;
    this.newlines += newlineCount(text);
    this.endsInLine = !text.endsWith('\n');
    this.keep(text, bytes);
  }

  private keep(text: string, bytes: number): void {
    this.chunks.push(text);
    this.keptBytes += bytes;
    // Cutting costs by what is kept: done at twice the limit, it costs each byte a constant.
    if (this.keptBytes > 2 * this.limitBytes || this.chunks.length > 4096) this.compact();
  }

  private compact(): void {
    const joined = this.chunks.join('');
    const kept = this.keptBytes > this.limitBytes ? utf8Tail(joined, this.limitBytes) : joined;
    if (kept.length < joined.length) {
      this.dropped = true;
      // One unit more than the limit tells whether the cut already is at a line.
      const before = joined.charCodeAt(joined.length - kept.length - 1);
      this.cutInLine = before !== 0x0a;
      this.keptBytes = utf8Length(kept);
    }
    this.chunks = kept === '' ? [] : [kept];
  }

  private keptText(): string {
    this.compact();
    const kept = this.chunks[0] ?? '';
    if (!this.cutInLine) return kept;
    const lineEnd = kept.indexOf('\n');
    // A last line that alone is beyond the limit is cut within: something is better than nothing.
    return lineEnd === -1 || lineEnd === kept.length - 1 ? kept : kept.slice(lineEnd + 1);
  }

  private paragraph(text: string): void {
    if (text === '') return;
    this.flushHalfPair();
    const separator = this.endsInLine ? '\n' : '';
    this.append(`${separator}${text}${text.endsWith('\n') ? '' : '\n'}`);
  }

  private result(data: MimeBundle, metadata: MimeBundle | undefined): void {
    const plain = data['text/plain'];
    if (typeof plain === 'string') this.paragraph(plain);
    // A value that has only its text is in the text already.
    if (Object.keys(data).some((type) => type !== 'text/plain')) {
      this.displays.push(display(data, metadata, undefined));
    }
  }

  private update(displayId: string, data: MimeBundle, metadata: MimeBundle | undefined): void {
    const updated = display(data, metadata, displayId);
    const known = this.displays.some((shown) => shown.displayId === displayId);
    // One that an earlier run had shown is new to this result.
    if (!known) this.displays.push(updated);
    else
      this.displays = this.displays.map((shown) =>
        shown.displayId === displayId ? updated : shown,
      );
  }

  private gap(lines: number, bytes: number): void {
    this.flushHalfPair();
    const mark = `${this.endsInLine ? '\n' : ''}[${lines} lines left out here]\n`;
    this.totalBytes += bytes;
    this.newlines += lines;
    this.endsInLine = false;
    this.dropped = true;
    this.keep(mark, utf8Length(mark));
  }

  private clear(): void {
    this.flushHalfPair();
    this.clearOnNext = false;
    if (this.endsInLine) this.newlines++;
    this.endsInLine = false;
    this.chunks = [];
    this.keptBytes = 0;
    this.cutInLine = false;
    this.displays = [];
  }

  private flushHalfPair(): void {
    const half = this.halfPair;
    this.halfPair = '';
    this.append(half);
  }
}

function display(
  data: MimeBundle,
  metadata: MimeBundle | undefined,
  displayId: string | undefined,
): DisplayOutput {
  return {
    data,
    ...(metadata === undefined ? {} : { metadata }),
    ...(displayId === undefined ? {} : { displayId }),
  };
}

function newlineCount(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function lineCount(text: string): number {
  return newlineCount(text) + (text === '' || text.endsWith('\n') ? 0 : 1);
}
