import { isHighSurrogate } from '../pool/utf8';

export const HEAD_LIMIT = 1_000_000;

const MARK = '\n[Output beyond the first 1,000,000 characters is left out here.]\n';

/** Keeps the first 1,000,000 characters (UTF-16 units) of a text that comes in pieces, then one mark, however much follows. */
export class HeadBuffer {
  private pieces: string[] = [];
  private seen = 0;
  private state: 'open' | 'full' | 'closed' = 'open';

  add(piece: string): void {
    const before = this.seen;
    this.seen += piece.length;
    if (this.state !== 'open') return;
    if (this.seen <= HEAD_LIMIT) {
      this.pieces.push(piece);
      return;
    }
    this.pieces.push(piece.slice(0, HEAD_LIMIT - before));
    this.pieces = [withoutHalfPair(this.joined()) + MARK];
    this.state = 'full';
  }

  /** The same text from another source, which counts where it has more. */
  complete(whole: string): void {
    if (whole.length <= this.seen) return;
    this.pieces = [];
    this.seen = 0;
    this.state = 'open';
    this.add(whole);
  }

  /** Nothing more will come. */
  close(): void {
    if (this.state === 'open') this.state = 'closed';
  }

  get text(): string {
    const text = this.joined();
    // The other half is on its way.
    return this.state === 'open' ? withoutHalfPair(text) : text;
  }

  private joined(): string {
    const text = this.pieces.join('');
    this.pieces = [text];
    return text;
  }
}

function withoutHalfPair(text: string): string {
  return isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(0, -1) : text;
}
