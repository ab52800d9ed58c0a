import type { PoolCore } from './core';
import { identityOf, type SessionIdentity } from './key';
import type { PreludeDocs } from './preludeDocs';
import { ReadyCall, reasonOf } from './readyCall';
import type { WarmRequest, WarmResult } from './types';

export interface WarmParts {
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
  const call = new ReadyCall(
    identity,
    request.ownerId,
    executionId,
    core.clock.now(),
    false,
    (kernel) => parts.docs.of(parts.contentOf(identity), kernel),
  );
  core.acquire(call);
  const end = await call.end;
  return end.ok ? { ok: true, docs: end.value } : { ok: false, reason: reasonOf(end) };
}

/** Sessions of one language and interpreter have one prelude, as long as nobody says otherwise. */
export function likelyContent({ sessionId, interpreter }: SessionIdentity): string {
  return `${sessionId.slice(0, sessionId.indexOf(':') + 1)}${interpreter ?? ''}`;
}
