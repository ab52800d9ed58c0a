import { Emitter } from '../base/event';

/** Tells listeners that something has changed: once, after the changes that belong together. */
export class ChangeSignal {
  private readonly emitter = new Emitter<void>();
  private readonly changedIds = new Set<string>();
  private anything = true;
  private isTelling = false;

  readonly event = this.emitter.event;

  /** `id`: the session that changed. */
  mark(id?: string): void {
    this.anything = true;
    if (id !== undefined) this.changedIds.add(id);
    if (this.isTelling || !this.emitter.hasListeners) return;
    this.isTelling = true;
    queueMicrotask(() => {
      this.isTelling = false;
      this.emitter.fire();
    });
  }

  /** What changed since it was last asked, or undefined for nothing at all. */
  take(): ReadonlySet<string> | undefined {
    if (!this.anything) return undefined;
    const ids = new Set(this.changedIds);
    this.changedIds.clear();
    this.anything = false;
    return ids;
  }
}
