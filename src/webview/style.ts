/** How a stretch of text looks. Styles are interned: two that look the same are the same object. */
export interface TextStyle {
  /** `0`–`15` are the theme's colours, anything else is a CSS colour. */
  readonly foreground: string | undefined;
  readonly background: string | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly hidden: boolean;
  readonly strike: boolean;
  /** Target of a hyperlink (OSC 8). */
  readonly link: string | undefined;
}

const plain: TextStyle = {
  foreground: undefined,
  background: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  hidden: false,
  strike: false,
  link: undefined,
};

// A gradient in true colour makes a style per cell; beyond this many the table starts anew.
const MAX_INTERNED = 4_096;

/** Hands out interned styles. Undefined is plain text. */
export class StyleTable {
  private readonly styles = new Map<string, TextStyle>();

  /** The style after one SGR sequence (ECMA-48 8.3.117, and xterm's colours). */
  afterSgr(style: TextStyle | undefined, parameters: string): TextStyle | undefined {
    return this.intern(applySgr(style ?? plain, parameters));
  }

  withLink(style: TextStyle | undefined, link: string | undefined): TextStyle | undefined {
    return this.intern({ ...(style ?? plain), link });
  }

  private intern(style: TextStyle): TextStyle | undefined {
    const key = keyOf(style);
    if (key === plainKey) return undefined;
    const known = this.styles.get(key);
    if (known !== undefined) return known;
    if (this.styles.size >= MAX_INTERNED) this.styles.clear();
    this.styles.set(key, style);
    return style;
  }
}

function keyOf(style: TextStyle): string {
  const flags =
    Number(style.bold) +
    2 * Number(style.dim) +
    4 * Number(style.italic) +
    8 * Number(style.underline) +
    16 * Number(style.inverse) +
    32 * Number(style.hidden) +
    64 * Number(style.strike);
  return `${flags};${style.foreground ?? ''};${style.background ?? ''};${style.link ?? ''}`;
}

const plainKey = keyOf(plain);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function applySgr(before: TextStyle, parameters: string): TextStyle {
  const style: Mutable<TextStyle> = { ...before };
  // A colon joins sub-parameters: `4:3` is one attribute, `38:2::r:g:b` one colour.
  const list = parameters.split(';');
  for (let at = 0; at < list.length; at++) {
    const [first = '', ...sub] = (list[at] ?? '').split(':');
    const code = first === '' ? 0 : Number(first);
    if (code === 38 || code === 48 || code === 58) {
      const joined = sub.length > 0;
      const colour = joined
        ? subColour(sub)
        : extendedColour(list.slice(at + 1, at + 5).map(Number));
      if (!joined) at += colour.used;
      if (code === 38) style.foreground = colour.value;
      if (code === 48) style.background = colour.value;
    } else if (code === 4 && sub.length > 0) style.underline = sub[0] !== '0';
    else applyCode(style, code);
  }
  return style;
}

function applyCode(style: Mutable<TextStyle>, code: number): void {
  if (code >= 30 && code <= 37) style.foreground = String(code - 30);
  else if (code >= 40 && code <= 47) style.background = String(code - 40);
  else if (code >= 90 && code <= 97) style.foreground = String(code - 82);
  else if (code >= 100 && code <= 107) style.background = String(code - 92);
  else applyAttribute(style, code);
}

function applyAttribute(style: Mutable<TextStyle>, code: number): void {
  switch (code) {
    case 0: {
      // A link ends by its own sequence, not by a reset.
      const { link } = style;
      Object.assign(style, plain, { link });
      return;
    }
    case 1:
      style.bold = true;
      return;
    case 2:
      style.dim = true;
      return;
    case 3:
      style.italic = true;
      return;
    case 4:
    case 21:
      style.underline = true;
      return;
    case 7:
      style.inverse = true;
      return;
    case 8:
      style.hidden = true;
      return;
    case 9:
      style.strike = true;
      return;
    case 22:
      style.bold = style.dim = false;
      return;
    case 23:
      style.italic = false;
      return;
    case 24:
      style.underline = false;
      return;
    case 27:
      style.inverse = false;
      return;
    case 28:
      style.hidden = false;
      return;
    case 29:
      style.strike = false;
      return;
    case 39:
      style.foreground = undefined;
      return;
    case 49:
      style.background = undefined;
      return;
  }
}

interface Colour {
  readonly value: string | undefined;
  /** Parameters that belong to it. */
  readonly used: number;
}

function extendedColour([kind, a = 0, b = 0, c = 0]: number[]): Colour {
  if (kind === 5) return { value: indexedColour(a), used: 2 };
  if (kind === 2) return { value: rgb(a, b, c), used: 4 };
  return { value: undefined, used: 1 };
}

/** `2:r:g:b` or, with a colour space that is mostly empty, `2:space:r:g:b`. */
function subColour(sub: string[]): Colour {
  const values = sub.map(Number);
  if (values[0] === 2 && values.length > 4) values.splice(1, 1);
  return extendedColour(values);
}

function indexedColour(index: number): string | undefined {
  if (!(index >= 0 && index <= 255)) return undefined;
  if (index < 16) return String(index);
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return rgb(grey, grey, grey);
  }
  const level = (n: number): number => (n === 0 ? 0 : 55 + n * 40);
  const cube = index - 16;
  return rgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function rgb(...channels: number[]): string {
  const hex = channels.map((channel) => {
    return Math.min(255, Math.max(0, Math.trunc(channel) || 0))
      .toString(16)
      .padStart(2, '0');
  });
  return `#${hex.join('')}`;
}
