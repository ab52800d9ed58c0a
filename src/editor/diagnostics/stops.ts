import type { SessionSnapshot } from '../../pool/types';
import { withoutQuotes } from './redact';

const KEPT = 20;

/** How a kernel came to its end, or did not. Times are ms since the epoch. */
export interface StopFact {
  /** The session's snapshot id. */
  readonly id: string;
  readonly pid: number | undefined;
  readonly since: number;
  readonly at: number;
  /** In the order in which they were taken. */
  readonly steps: readonly string[];
  readonly attempts: number;
  /** `over`: its end is confirmed, or a person has let it go. */
  readonly end: 'over' | 'unconfirmed' | 'died';
  readonly reason: string;
}

interface OpenStop {
  readonly pid: number | undefined;
  readonly since: number;
  readonly steps: string[];
  attempts: number;
  reason: string;
}

/** Remembers the last stops and deaths, which are gone from the pool with their sessions. */
export class StopLog {
  private readonly open = new Map<string, OpenStop>();
  private readonly deaths = new Map<string, number>();
  private readonly done: StopFact[] = [];

  /** Told of every change of the sessions. */
  look(sessions: readonly SessionSnapshot[], now: number): void {
    for (const session of sessions) this.lookAt(session, now);
    const ids = new Set(sessions.map(({ id }) => id));
    for (const id of [...this.open.keys()]) if (!ids.has(id)) this.close(id, now);
    for (const id of [...this.deaths.keys()]) if (!ids.has(id)) this.deaths.delete(id);
  }

  /** The oldest first; those that go on come last. */
  all(now: number): readonly StopFact[] {
    const going = [...this.open].map(([id, { pid, since, steps, attempts, reason }]): StopFact => ({
      ...{ id, pid, since, steps, attempts, reason },
      at: now,
      end: 'unconfirmed',
    }));
    return [...this.done, ...going];
  }

  private lookAt({ id, pid, state }: SessionSnapshot, now: number): void {
    switch (state.kind) {
      case 'stopping':
      case 'stopUnconfirmed': {
        const open = this.open.get(id) ?? {
          ...{ pid, since: state.since, steps: [], attempts: 0, reason: '' },
        };
        this.open.set(id, open);
        open.attempts = state.attempt;
        if (state.kind === 'stopUnconfirmed') open.reason = withoutQuotes(state.reason);
        else if (state.progress && open.steps.at(-1) !== state.progress.step) {
          open.steps.push(state.progress.step);
        }
        return;
      }
      case 'dead':
        this.close(id, now);
        if (this.deaths.get(id) === state.since) return;
        this.deaths.set(id, state.since);
        this.add({
          ...{ id, pid, since: state.since, at: state.since, steps: [], attempts: 0, end: 'died' },
          reason: withoutQuotes(state.summary),
        });
        return;
      default:
        this.close(id, now);
    }
  }

  private close(id: string, at: number): void {
    const open = this.open.get(id);
    if (!open) return;
    this.open.delete(id);
    const { pid, since, steps, attempts, reason } = open;
    this.add({ id, pid, since, at, steps, attempts, reason, end: 'over' });
  }

  private add(fact: StopFact): void {
    this.done.push(fact);
    if (this.done.length > KEPT) this.done.shift();
  }
}
