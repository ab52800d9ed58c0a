import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposable';
import type { Session } from './session';

interface RetentionParts {
  readonly clock: Clock;
  /** 0: never. */
  idleExpiryMs(): number;
  isHeldByWindow(session: Session): boolean;
}

/** Ends sessions that nobody has used for long. A timer does it, so that none waits for a next request to be noticed. */
export class Retention {
  private readonly timers = new Map<Session, Disposable>();

  constructor(private readonly parts: RetentionParts) {}

  /**
   * Something about the session was used or changed: its time counts from here. Timers, not the wall clock, measure
   * it: the hours that a machine sleeps are not time without use.
   */
  restart(session: Session): void {
    this.forget(session);
    const expiryMs = this.parts.idleExpiryMs();
    if (expiryMs === 0 || !this.mayExpire(session)) return;
    this.timers.set(
      session,
      this.parts.clock.after(expiryMs, () => {
        this.timers.delete(session);
        if (this.mayExpire(session)) this.expire(session, expiryMs);
      }),
    );
  }

  forget(session: Session): void {
    this.timers.get(session)?.dispose();
    this.timers.delete(session);
  }

  private mayExpire(session: Session): boolean {
    return session.isIdle && !this.parts.isHeldByWindow(session);
  }

  private expire(session: Session, expiryMs: number): void {
    const minutes = Math.round(expiryMs / 60_000);
    const why = `it expired after ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} without use`;
    session.claim({ kind: 'unlimited' }, why, { kind: 'released' });
  }
}
