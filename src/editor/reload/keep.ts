import type { KernelHosting } from '../../hosting';
import type { SessionBook } from '../sessions/sessionBook';

/** Names under which a window gives the kernel host what the next one needs. */
export const keptKeys = {
  window: 'window',
  book: 'book',
  session: (id: string): string => `session/${id}`,
  background: (executionId: string): string => `background/${executionId}`,
};

/** Has the host know who this window is and what its sessions are called, now and after each change. */
export function keepForNextWindow(parts: {
  readonly host: Pick<KernelHosting, 'keep'>;
  readonly ownerId: string;
  readonly book: SessionBook;
}): void {
  const { host, ownerId, book } = parts;
  host.keep(keptKeys.window, ownerId);
  const keepBook = (): void => host.keep(keptKeys.book, book.content());
  keepBook();
  book.onDidChange(keepBook);
}
