import type { OwnerSnapshot } from './types';

type Release =
  /** It held nothing here. */
  | 'absent'
  /** It let go, and somebody else still holds. */
  | 'detached'
  /** It was the last holder, and is departed now. */
  | 'last'
  /** It had let go before; the kernel's exit is not confirmed yet. */
  | 'departed';

/** Hears of ids that appear in a set or leave it, whatever their kind. */
export interface OwnerWatcher {
  ownerAppeared(ownerId: string): void;
  ownerLeft(ownerId: string): void;
}

/**
 * Who holds a session. A caller without an owner makes the fallback id the holder, but only while nobody explicit
 * holds; the first explicit owner replaces it. Departed owners don't hold: they are remembered until the kernel's
 * exit is confirmed, so that they can dispose again.
 */
export class OwnerSet {
  private readonly explicit = new Set<string>();
  private readonly departed = new Set<string>();
  private hasFallback = false;

  constructor(
    readonly fallbackId: string,
    private readonly watcher: OwnerWatcher,
  ) {}

  get isHeld(): boolean {
    return this.hasFallback || this.explicit.size > 0;
  }

  explicitBut(ownerId: string | undefined): readonly string[] {
    return [...this.explicit].filter((holder) => holder !== ownerId);
  }

  /** Who holds now, the fallback by its id. */
  get holders(): readonly string[] {
    return this.hasFallback ? [this.fallbackId] : [...this.explicit];
  }

  /** Without a copy of them, which may be thousands. */
  someHolder(test: (ownerId: string) => boolean): boolean {
    if (this.hasFallback) return test(this.fallbackId);
    for (const ownerId of this.explicit) if (test(ownerId)) return true;
    return false;
  }

  /** Who holds, or held until the stop that is not confirmed. */
  get known(): readonly string[] {
    return [...this.holders, ...this.departed];
  }

  /** Answers whether anything changed. */
  attach(ownerId: string | undefined): boolean {
    // The common case of each run: it holds already, and nobody left.
    if (this.departed.size === 0) {
      if (ownerId === undefined ? this.isHeld : this.explicit.has(ownerId)) return false;
    }
    this.forgetDeparted();
    if (ownerId === undefined) {
      if (this.explicit.size === 0) this.setFallback(true);
    } else {
      this.setFallback(false);
      this.explicit.add(ownerId);
      this.watcher.ownerAppeared(ownerId);
    }
    return true;
  }

  release(ownerId: string): Release {
    if (this.explicit.delete(ownerId)) {
      if (this.explicit.size > 0) return this.left(ownerId);
      this.departed.add(ownerId);
      return 'last';
    }
    if (this.hasFallback && ownerId === this.fallbackId) {
      this.hasFallback = false;
      this.departed.add(ownerId);
      return 'last';
    }
    return this.departed.has(ownerId) ? 'departed' : 'absent';
  }

  /** Everybody lets go at once. */
  departAll(): void {
    for (const holder of this.holders) this.departed.add(holder);
    this.explicit.clear();
    this.hasFallback = false;
  }

  /** The holder of a reset's private session lets go of the shared one. */
  detach(ownerId: string): void {
    if (this.explicit.delete(ownerId)) this.left(ownerId);
  }

  /** Hands the holders to another set; here everybody has departed then. */
  moveTo(other: OwnerSet): void {
    if (this.hasFallback) other.attach(undefined);
    for (const ownerId of this.explicit) other.attach(ownerId);
    this.departAll();
  }

  /** The session is gone. */
  clear(): void {
    const ids = new Set([...this.explicit, ...this.departed]);
    if (this.hasFallback) ids.add(this.fallbackId);
    this.explicit.clear();
    this.departed.clear();
    this.hasFallback = false;
    for (const id of ids) this.watcher.ownerLeft(id);
  }

  snapshot(): readonly OwnerSnapshot[] {
    return [
      ...(this.hasFallback ? [{ id: this.fallbackId, kind: 'fallback' as const }] : []),
      ...[...this.explicit].map((id) => ({ id, kind: 'explicit' as const })),
      ...[...this.departed].map((id) => ({ id, kind: 'departed' as const })),
    ];
  }

  private setFallback(present: boolean): void {
    if (this.hasFallback === present) return;
    this.hasFallback = present;
    if (present) this.watcher.ownerAppeared(this.fallbackId);
    else this.left(this.fallbackId);
  }

  private forgetDeparted(): void {
    const ids = [...this.departed];
    this.departed.clear();
    for (const id of ids) this.left(id);
  }

  private left(ownerId: string): 'detached' {
    this.watcher.ownerLeft(ownerId);
    return 'detached';
  }
}

/** Where an owner is: what it holds or held, so that its disposal costs by that and not by what exists. */
export class OwnerIndex<Place> {
  private readonly places = new Map<string, Set<Place>>();

  watch(place: Place): OwnerWatcher {
    return {
      ownerAppeared: (ownerId) => {
        const known = this.places.get(ownerId);
        if (known) known.add(place);
        else this.places.set(ownerId, new Set([place]));
      },
      ownerLeft: (ownerId) => {
        const known = this.places.get(ownerId);
        if (!known?.delete(place)) return;
        if (known.size === 0) this.places.delete(ownerId);
      },
    };
  }

  placesOf(ownerId: string): readonly Place[] {
    return [...(this.places.get(ownerId) ?? [])];
  }
}
