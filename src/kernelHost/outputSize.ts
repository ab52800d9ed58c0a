import type { KernelOutput, MimeBundle } from '../kernel/output';

export interface OutputItem {
  /** null: the output belongs to no run. */
  readonly execution: string | null;
  readonly output: KernelOutput;
}

/** What an item weighs beside its text. */
export const ITEM_SIZE = 64;

/** About the characters that an item takes on its way. */
export function sizeOf(output: KernelOutput): number {
  switch (output.type) {
    case 'stream':
      return ITEM_SIZE + output.text.length;
    case 'display':
    case 'updateDisplay':
    case 'result':
      return ITEM_SIZE + bundleSize(output.data) + bundleSize(output.metadata ?? {});
    case 'error':
      return ITEM_SIZE + output.value.length + output.traceback.length;
    case 'clear':
    case 'gap':
      return ITEM_SIZE;
  }
}

function bundleSize(bundle: MimeBundle): number {
  let size = 0;
  for (const [type, value] of Object.entries(bundle)) {
    size += type.length;
    size += typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length;
  }
  return size;
}

/** The items without about `size` characters of their oldest stream text, which stands as gaps, each in its run. */
export function leaveOutText<Item extends OutputItem>(
  items: readonly Item[],
  size: number,
): Item[] {
  const kept: Item[] = [];
  let left = size;
  for (const item of items) {
    const { output, execution } = item;
    const last = kept.at(-1);
    const lastGap =
      last?.execution === execution && last.output.type === 'gap' ? last.output : undefined;
    if (output.type === 'stream' && left > 0) {
      left -= sizeOf(output);
      if (lastGap !== undefined) kept.pop();
      kept.push({ ...item, output: gapOver(output.text, lastGap) });
    } else if (output.type === 'gap' && lastGap !== undefined) {
      kept.pop();
      const lines = lastGap.lines + output.lines;
      kept.push({ ...item, output: { type: 'gap', lines, bytes: lastGap.bytes + output.bytes } });
    } else {
      kept.push(item);
    }
  }
  return kept;
}

type Gap = Extract<KernelOutput, { type: 'gap' }>;

function gapOver(text: string, before: Gap | undefined): Gap {
  return {
    type: 'gap',
    lines: (before?.lines ?? 0) + lineEnds(text),
    bytes: (before?.bytes ?? 0) + Buffer.byteLength(text),
  };
}

function lineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/**
 * The items with the data of the oldest displays and results, about `size` characters of them, replaced by a note;
 * where notes alone would still be too many, the oldest go altogether.
 */
export function leaveOutDisplays<Item extends OutputItem>(
  items: readonly Item[],
  size: number,
  why: string,
): Item[] {
  let left = size;
  const noted = items.map((item) => {
    const { output } = item;
    if (left <= 0 || !('data' in output)) return item;
    const note: KernelOutput = { ...output, data: { 'text/plain': why } };
    left -= sizeOf(output) - sizeOf(note);
    return { ...item, output: note };
  });
  return noted.filter(({ output }) => {
    if (left <= 0 || output.type === 'stream' || output.type === 'gap') return true;
    left -= sizeOf(output);
    return false;
  });
}
