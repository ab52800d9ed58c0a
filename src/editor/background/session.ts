import { namespaced } from '../../kernel/language';
import type { BackgroundRequest } from '../../runner/backgroundTypes';
import { firstLineOf } from '../runs';
import { nameOfKey, sessionKeyOf, type SessionName } from '../sessions/target';

const SESSION_ID = namespaced('python', 'background:');

/** A background run is alone in its session, which bears its name. */
export function sessionOf({
  executionId,
  cwd = '',
  interpreter,
}: BackgroundRequest): SessionName & {
  readonly place: { readonly id: string; readonly incarnation: number };
} {
  return {
    sessionId: `${SESSION_ID}${executionId}`,
    cwd,
    ...(interpreter !== undefined && { interpreter }),
    place: { id: `background:${executionId}`, incarnation: 1 },
  };
}

/** Its tab in the panel. */
export function keyOf(request: BackgroundRequest): string {
  return sessionKeyOf(sessionOf(request));
}

/** Whether a tab is that of a background run, of whatever window. */
export function isBackground(sessionKey: string): boolean {
  return nameOfKey(sessionKey)?.sessionId.startsWith(SESSION_ID) ?? false;
}

/** What people call it. */
export function labelOf({ label, code }: Pick<BackgroundRequest, 'label' | 'code'>): string {
  return label ?? firstLineOf(code);
}
