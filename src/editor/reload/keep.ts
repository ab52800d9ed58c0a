import type { KernelHosting } from '../../hosting';
import { isBackground } from '../background/session';
import type { OutlineEntry } from '../panel/outline';
import type { Transcript } from '../panel/transcript';
import { boundedCode } from '../records/boundedOutput';
import type { SessionBook } from '../sessions/sessionBook';

/** UTF-8. What was sent is in the host's history, whole; this is of runs that never were. */
const CODE_BYTES = 16 * 1024;

/** Names under which a window gives the kernel host what the next one needs. */
export const keptKeys = {
  window: 'window',
  book: 'book',
  session: (id: string): string => `session/${id}`,
  background: (executionId: string): string => `background/${executionId}`,
  shown: (place: number | ''): string => `shown/${place}`,
};

/**
 * Has the host know who this window is, what its sessions are called, and which runs and notes its panel shows, now and
 * after each change.
 */
export function keepForNextWindow(parts: {
  readonly host: Pick<KernelHosting, 'keep'>;
  readonly ownerId: string;
  readonly book: SessionBook;
  readonly transcript: Pick<Transcript, 'outline' | 'onDidChangeOutline'>;
}): void {
  const { host, ownerId, book, transcript } = parts;
  host.keep(keptKeys.window, ownerId);
  const keepBook = (): void => host.keep(keptKeys.book, book.content());
  keepBook();
  book.onDidChange(keepBook);
  const keepEntry = (place: number, entry: OutlineEntry | undefined): void =>
    host.keep(keptKeys.shown(place), entry && keptEntry(entry));
  for (const entry of transcript.outline()) keepEntry(entry.place, entry);
  transcript.onDidChangeOutline(({ place, entry }) => keepEntry(place, entry));
}

/** As it rides ahead. Background runs look after themselves. */
function keptEntry(entry: OutlineEntry): unknown {
  if (isBackground(entry.sessionKey)) return undefined;
  if (entry.kind === 'note') return entry;
  const { code, startedAt } = entry.head;
  const kept = startedAt === null ? boundedCode(code, CODE_BYTES) : null;
  return { ...entry, head: { ...entry.head, code: kept } };
}
