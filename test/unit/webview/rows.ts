import { LineModel, type Block, type StreamName } from '../../../src/webview/lineModel';

/** What a reader of the panel sees after these writes, one string a row; `!` marks stderr. */
export function rowsAfter(...writes: readonly (string | [StreamName, string])[]): string[] {
  const blocks = blocksAfter(...writes);
  return blocks.flatMap(({ name, rows }) => {
    return rows.map((row) => (name === 'stderr' ? '!' : '') + row.text);
  });
}

export function blocksAfter(...writes: readonly (string | [StreamName, string])[]): Block[] {
  const blocks: Block[] = [];
  const model = new LineModel({
    added: (block) => blocks.push(block),
    changed: () => undefined,
    settled: () => undefined,
    erased: () => blocks.splice(0),
  });
  for (const write of writes) {
    const [name, text] = typeof write === 'string' ? (['stdout', write] as const) : write;
    model.write(name, text);
  }
  return blocks;
}
