import { messageOf } from '../base/errors';
import type { PooledKernel } from '../kernel/kernel';
import type { PoolCore } from './core';
import { identityOf, type SessionIdentity } from './key';
import type { PreludeDocs } from './preludeDocs';
import { ReadyCall } from './readyCall';
import type { WarmRequest, WarmResult } from './types';

interface WarmParts {
  readonly docs: PreludeDocs;
  contentOf(identity: SessionIdentity): string;
}

/** Starts the session if there is none, and tells what its prelude offers. Never rejects. */
export async function warmUp(
  core: PoolCore,
  parts: WarmParts,
  request: WarmRequest,
  executionId: string,
): Promise<WarmResult> {
  const identity = identityOf(request);
  const content = parts.contentOf(identity);
  let docs = parts.docs.get(content);
  const introspect = async (kernel: PooledKernel): Promise<void> => {
    docs = parts.docs.of(content, kernel);
    await docs;
  };
  const call = new ReadyCall(
    identity,
    request.ownerId,
    executionId,
    core.clock.now(),
    false,
    docs ? undefined : introspect,
  );
  core.acquire(call);
  const end = await call.end;
  if (!end.ok) return { ok: false, reason: messageOf(end.error) };
  try {
    return { ok: true, docs: (await docs) ?? [] };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

/** Sessions of one language and interpreter have one prelude, as long as nobody says otherwise. */
export function likelyContent({ sessionId, interpreter }: SessionIdentity): string {
  return `${sessionId.slice(0, sessionId.indexOf(':') + 1)}${interpreter ?? ''}`;
}
