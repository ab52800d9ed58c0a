import * as v from 'valibot';
import { chatWithId, someChat, type Chat } from './chat';

const LONGEST_ID = 300;

const address = v.object({ scheme: v.string(), authority: v.string(), path: v.string() });

/**
 * Where the editor has it, none of it documented: a chat request has `sessionResource`, and so has the token of a tool's
 * call (`sessionId` in older editors); what prepares a call has `chatSessionResource`.
 */
const carrier = v.object({
  sessionResource: v.optional(v.unknown()),
  chatSessionResource: v.optional(v.unknown()),
  sessionId: v.optional(v.unknown()),
});

/** The chat that stands behind a request, a token or the options of a call. The first of them that tells it counts. */
export function chatOf(...carriers: readonly unknown[]): Chat {
  for (const each of carriers) {
    const sessionId = sessionIdIn(each);
    if (sessionId !== undefined) return chatWithId(sessionId);
  }
  return someChat;
}

/** The chat's request that a call is prepared for; undefined where the editor does not tell. */
export function requestOf(carrier: unknown): string | undefined {
  const parsed = v.safeParse(v.object({ chatRequestId: v.string() }), carrier);
  return parsed.success ? parsed.output.chatRequestId : undefined;
}

function sessionIdIn(value: unknown): string | undefined {
  const parsed = v.safeParse(carrier, value);
  if (!parsed.success) return undefined;
  const { sessionResource, chatSessionResource, sessionId } = parsed.output;
  const id = idIn(sessionResource) ?? idIn(chatSessionResource) ?? sessionId;
  return typeof id === 'string' && id !== '' && id.length <= LONGEST_ID ? id : undefined;
}

/** The editor's own chats have their id in the path, as base64; others are known by their whole address. */
function idIn(resource: unknown): string | undefined {
  const parsed = v.safeParse(address, resource);
  if (!parsed.success) return undefined;
  const { scheme, authority, path } = parsed.output;
  if (scheme === 'vscode-chat-session' && authority === 'local') {
    return Buffer.from(path.slice(1), 'base64url').toString('utf8');
  }
  return `${scheme}://${authority}${path}`;
}
