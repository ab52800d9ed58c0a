import * as v from 'valibot';
import { Emitter } from '../../base/event';
import { isBackground } from '../background/session';
import { nameOfKey } from '../sessions/target';

/** Where a window keeps small values of its workspace over a restart: the editor's own store. */
interface Store {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const STORED_AS = 'holdfast.transcriptsLeftOut';
const stored = v.fallback(v.array(v.string()), []);

/** The sessions whose transcripts a person does not want to be kept, by key. Remembered with the workspace. */
export class LeftOut {
  private readonly keys: Set<string>;
  private readonly changed = new Emitter<void>();

  readonly onDidChange = this.changed.event;

  constructor(private readonly store: Store) {
    this.keys = new Set(v.parse(stored, store.get(STORED_AS)));
  }

  /** A background run is left out with the sessions of its folder and interpreter: it works on the same data. */
  has(sessionKey: string): boolean {
    if (this.keys.has(sessionKey)) return true;
    const place = isBackground(sessionKey) ? placeOf(sessionKey) : undefined;
    return place !== undefined && [...this.keys].some((key) => placeOf(key) === place);
  }

  /** Counts at once. Rejects where it could not be remembered. */
  async set(sessionKey: string, isLeftOut: boolean): Promise<void> {
    if (isLeftOut) this.keys.add(sessionKey);
    else this.keys.delete(sessionKey);
    this.changed.fire();
    await this.store.update(STORED_AS, [...this.keys]);
  }
}

function placeOf(sessionKey: string): string | undefined {
  const name = nameOfKey(sessionKey);
  return name && JSON.stringify([name.cwd, name.interpreter]);
}
