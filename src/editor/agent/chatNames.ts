import { Emitter } from '../../base/event';
import { chatWithId } from './chat';

/** What people call chats that have a title, by owner id. */
export class ChatNames {
  private readonly titles = new Map<string, string>();
  private readonly changed = new Emitter<void>();

  readonly onDidChange = this.changed.event;

  nameOf(ownerId: string): string | undefined {
    const title = this.titles.get(ownerId);
    return title === undefined ? undefined : `Chat “${title}”`;
  }

  entitle(sessionId: string, title: string | undefined): void {
    const { ownerId } = chatWithId(sessionId);
    if (title === undefined || this.titles.get(ownerId) === title) return;
    this.titles.set(ownerId, title);
    this.changed.fire();
  }

  forget(ownerId: string): void {
    this.titles.delete(ownerId);
  }
}
