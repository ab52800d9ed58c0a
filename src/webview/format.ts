/** A length of time for people: "340 ms", "12.3 s", "2 m 05 s", "1 h 02 m". */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 59_950) return `${(whole / 1_000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
}

const two = (n: number): string => String(n).padStart(2, '0');

/** Bytes for people, in powers of 1,000: "312 bytes", "6.9 MB". */
export function size(bytes: number): string {
  if (bytes < 1_000) return plural(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** "1 line", "12,345 lines". */
export function plural(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** 12345 → "12,345", whatever the system's language: the panel speaks one. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** "Nov 29, 14:05", as it is where the panel is looked at. */
export function dateAndTime(at: number): string {
  const parts = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  return new Date(at).toLocaleString([], parts);
}

/** The last part of a path of either kind. */
export function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** With U+FFFD for each half of a surrogate pair that stands alone: as UTF-8, in an address say, it could not be written. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** What a mark says where output was left out. */
export function leftOut(
  lines: number,
  bytes: number,
  displays: number,
  totalLines: number,
): string {
  const parts: string[] = [];
  if (lines > 0) {
    const of = totalLines > lines ? ` of ${grouped(totalLines)}` : '';
    parts.push(of === '' ? plural(lines, 'line') : `${grouped(lines)}${of} lines`);
  } else if (bytes > 0) parts.push(`${size(bytes)} of text`);
  if (displays > 0) parts.push(plural(displays, 'display'));
  return `… ${parts.join(' and ')} left out`;
}
