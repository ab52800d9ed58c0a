import { keyOf, type SessionIdentity } from './key';

/** Which owner's calls for a shared key go to a session of its own, since it reset one that others hold. */
export class PrivateRoutes {
  private readonly keysByOwner = new Map<string, Set<string>>();

  add(shared: SessionIdentity, ownerId: string | undefined): void {
    const owner = ownerId ?? shared.sessionId;
    const keys = this.keysByOwner.get(owner) ?? new Set();
    this.keysByOwner.set(owner, keys.add(keyOf(shared)));
  }

  resolve(identity: SessionIdentity, ownerId: string | undefined): SessionIdentity {
    if (this.keysByOwner.size === 0) return identity;
    const owner = ownerId ?? identity.sessionId;
    const isPrivate = this.keysByOwner.get(owner)?.has(keyOf(identity)) === true;
    return isPrivate ? { ...identity, privateTo: owner } : identity;
  }

  forgetOwner(ownerId: string): void {
    this.keysByOwner.delete(ownerId);
  }
}
