/** A chat session as the host tells it, never the caller. */
export interface Chat {
  /** As an owner of sessions. */
  readonly ownerId: string;
  /** As the editor's chats are called in their files and events. Undefined: the host did not tell. */
  readonly sessionId: string | undefined;
}

/** All chats of the window that can't be told apart. */
export const someChat: Chat = { ownerId: 'chat:unknown', sessionId: undefined };

export function chatWithId(sessionId: string): Chat {
  return { ownerId: `chat:${sessionId}`, sessionId };
}

/** The chat behind an owner; undefined: there is no chat, or none that can be told from others. */
export function chatOwnedBy(ownerId: string): Chat | undefined {
  if (!ownerId.startsWith('chat:') || ownerId === someChat.ownerId) return undefined;
  return chatWithId(ownerId.slice('chat:'.length));
}

/** For people: short, and the same after a reload. Undefined: it is no chat. */
export function nameOfChat(ownerId: string): string | undefined {
  if (!ownerId.startsWith('chat:')) return undefined;
  if (ownerId === someChat.ownerId) return 'Chats';
  const id = ownerId.slice('chat:'.length).replace(/[^\p{L}\p{N}]/gu, '');
  return `Chat ${id.slice(-6)}`;
}
