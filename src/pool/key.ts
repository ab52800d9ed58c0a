/** What names a session. The pool compares strings: callers pass canonical ones. */
export interface SessionIdentity {
  readonly sessionId: string;
  readonly cwd: string;
  /** Only when chosen explicitly. */
  readonly interpreter: string | undefined;
  /** The owner that a reset gave this session to, apart from the shared one. */
  readonly privateTo: string | undefined;
}

export function identityOf(request: {
  readonly cwd: string;
  readonly sessionId?: string;
  readonly interpreter?: string;
}): SessionIdentity {
  return {
    sessionId: request.sessionId ?? `session:${request.cwd}`,
    cwd: request.cwd,
    interpreter: request.interpreter,
    privateTo: undefined,
  };
}

// No path, id or interpreter holds a NUL, so that two different identities never meet in one key.
export function keyOf(identity: SessionIdentity): string {
  const shared = `${identity.sessionId}\0${identity.cwd}\0${identity.interpreter ?? ''}`;
  return identity.privateTo === undefined ? shared : `${shared}\0${identity.privateTo}`;
}
