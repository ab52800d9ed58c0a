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

// Quoted: ids are their callers' own words, and no separator is safe from them.
export function keyOf({ sessionId, cwd, interpreter, privateTo }: SessionIdentity): string {
  const shared = [sessionId, cwd, interpreter ?? ''];
  return JSON.stringify(privateTo === undefined ? shared : [...shared, privateTo]);
}
