import type { Call, CallPlace } from './call';
import { keyOf, type SessionIdentity } from './key';
import { OwnerSet, type OwnerWatcher } from './owners';
import type { WaiterSnapshot } from './types';

/** A key's one place in the line for a slot: a session to be, with its owners and calls. */
export class Waiter implements CallPlace {
  readonly key: string;
  readonly owners: OwnerSet;
  private calls: Call[] = [];

  constructor(
    readonly identity: SessionIdentity,
    private readonly since: number,
    watchOwners: (waiter: Waiter) => OwnerWatcher,
    private readonly onEmpty: (waiter: Waiter) => void,
    private readonly whoHoldsSlots: () => string,
  ) {
    this.key = keyOf(identity);
    this.owners = new OwnerSet(identity.sessionId, watchOwners(this));
  }

  join(call: Call): void {
    this.owners.attach(call.ownerId);
    this.enqueue(call);
  }

  enqueue(call: Call): void {
    call.place = this;
    this.calls.push(call);
  }

  waitingFor(): string {
    return `a free kernel slot (${this.whoHoldsSlots()})`;
  }

  leave(call: Call): void {
    this.calls = this.calls.filter((other) => other !== call);
    if (this.calls.length === 0) this.end();
  }

  /** The last owner's going takes the place and its calls with it. */
  releaseOwner(ownerId: string): undefined {
    if (this.owners.release(ownerId) !== 'last') return;
    const calls = this.takeCalls();
    this.end();
    for (const call of calls) call.notRun({ kind: 'released' });
  }

  takeCalls(): readonly Call[] {
    const calls = this.calls;
    this.calls = [];
    for (const call of calls) call.place = undefined;
    return calls;
  }

  snapshot(): WaiterSnapshot {
    const { sessionId, cwd, interpreter } = this.identity;
    return {
      sessionId,
      cwd,
      interpreter,
      owners: this.owners.snapshot(),
      since: this.since,
      calls: this.calls.map((call) => call.snapshot()),
    };
  }

  private end(): void {
    this.onEmpty(this);
    this.owners.clear();
  }
}
