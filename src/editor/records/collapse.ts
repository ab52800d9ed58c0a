const ESCAPE = '\u001b';

/**
 * Leaves out what a carriage return has written over, as in a progress bar: what is shown stays the same. Lines with
 * other control sequences stay as they are.
 */
export function collapse(text: string): string {
  if (!text.includes('\r')) return text;
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return [...lines.map(collapseLine), collapseOpen(last)].join('\n');
}

function collapseLine(line: string): string {
  if (!line.includes('\r') || line.includes(ESCAPE) || line.includes('\b')) return line;
  return line.split('\r').reduce((shown, part) => part + shown.slice(part.length), '');
}

/** Where the next text goes is a part of a line that has not ended. */
function collapseOpen(line: string): string {
  const at = line.lastIndexOf('\r');
  if (at === -1) return line;
  return `${collapseLine(line.slice(0, at))}${line.slice(at)}`;
}
