/** Length in UTF-8 bytes; a lone surrogate counts three, as its replacement character does. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) {
      // Two units, four bytes.
      bytes += 2;
      at++;
    } else bytes += 2;
  }
  return bytes;
}

/** The longest end of the text that has at most `limit` UTF-8 bytes and splits no character. */
export function utf8Tail(text: string, limit: number): string {
  let at = text.length;
  let bytes = 0;
  while (at > 0) {
    const unit = text.charCodeAt(at - 1);
    const isPair = isLowSurrogate(unit) && isHighSurrogate(text.charCodeAt(at - 2));
    bytes += isPair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (bytes > limit) break;
    at -= isPair ? 2 : 1;
  }
  return text.slice(at);
}

// charCodeAt beyond the text is NaN, which is neither.
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
