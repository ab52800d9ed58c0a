import type { Clock } from '../../base/clock';
import { messageOf } from '../../base/errors';
import { Emitter } from '../../base/event';
import type { Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import type { FoundHost } from '../../hosting/discover';

const LETS_GO_WITHIN_MS = 10_000;

/**
 * The kernel hosts of this user that live, whichever window they belong to, as they were at the last look. A host
 * of another window is watched while it is listed, and looked for again when it changes or goes.
 */
export class Hosts implements Disposable {
  private readonly changed = new Emitter<void>();
  private found: readonly FoundHost[] = [];
  private looking: Promise<readonly FoundHost[]> | undefined;
  private chosen: FoundHost | undefined;
  private readonly openedAt: number;
  /** By folder: the watching of those that are listed. */
  private readonly watched = new Map<string, Disposable>();
  /** Since the last look began. */
  private hasChanged = false;
  private isDisposed = false;

  constructor(
    private readonly parts: {
      /** Names what this window shows. */
      readonly workspace: string;
      readonly log: Log;
      readonly clock: Clock;
      /** This window's own. */
      ownPid(): number | undefined;
    },
  ) {
    this.openedAt = parts.clock.now();
  }

  readonly onDidChange = this.changed.event;

  /** Those of others, and those whose window is gone. */
  get others(): readonly FoundHost[] {
    const own = this.parts.ownPid();
    return this.found.filter(({ pid }) => pid !== own);
  }

  /** Looks again. What dead hosts have left is ended in passing. */
  look(): Promise<readonly FoundHost[]> {
    this.looking ??= this.lookNow().finally(() => {
      this.looking = undefined;
      if (this.hasChanged) this.lookAgain();
    });
    return this.looking;
  }

  /** A person's choice among several. */
  choose(pid: number): boolean {
    this.chosen = this.found.find((host) => host.pid === pid && host.isFree);
    return this.chosen !== undefined;
  }

  /** The one to go on with: a person's choice, else the only one that can be meant. */
  async toTakeUp(): Promise<FoundHost | undefined> {
    if (this.chosen) return this.chosen;
    const [{ hostToTakeUp }, found] = await Promise.all([discovery(), this.look()]);
    return hostToTakeUp(found);
  }

  /**
   * The same, for a window that has just opened: where one host alone can be meant and still has its window, that may be
   * this one before its reload, which is about to let go. Waits until 10 s after the window has opened, and `withinMs`
   * at most.
   */
  async toTakeUpSoon(withinMs = LETS_GO_WITHIN_MS): Promise<FoundHost | undefined> {
    const { nextChangeOf } = await discovery();
    const { clock } = this.parts;
    const giveUpAt = Math.min(this.openedAt + LETS_GO_WITHIN_MS, clock.now() + withinMs);
    for (;;) {
      const free = await this.toTakeUp();
      const left = giveUpAt - clock.now();
      const [one, ...more] = this.others.filter(({ isOfWorkspace }) => isOfWorkspace);
      if (free || !one || more.length > 0 || left <= 0) return free;
      await nextChangeOf(one, left);
    }
  }

  /** Has a host whose window is gone stop its kernels now. */
  async dismiss(pid: number): Promise<void> {
    const host = this.found.find((each) => each.pid === pid && each.isOrphan);
    if (host) await (await discovery()).dismissHost(host);
    await this.look();
  }

  dispose(): void {
    this.isDisposed = true;
    this.changed.dispose();
    for (const watching of this.watched.values()) watching.dispose();
    this.watched.clear();
  }

  private lookAgain(): void {
    this.look().catch((error: unknown) => this.parts.log.warn(messageOf(error)));
  }

  private async lookNow(): Promise<readonly FoundHost[]> {
    const { workspace, log } = this.parts;
    const { discoverHosts, watchHost } = await discovery();
    this.hasChanged = false;
    this.found = await discoverHosts({ workspace, log });
    if (!this.isDisposed) this.watchOthers(watchHost);
    this.changed.fire();
    return this.found;
  }

  private watchOthers(watchHost: (host: FoundHost, onChange: () => void) => Disposable): void {
    const { others, watched } = this;
    for (const [folder, watching] of watched) {
      if (others.some((host) => host.folder === folder)) continue;
      watching.dispose();
      watched.delete(folder);
    }
    for (const host of others) {
      if (watched.has(host.folder)) continue;
      watched.set(
        host.folder,
        watchHost(host, () => this.hostChanged()),
      );
      // It may have changed between the look and the watching.
      this.hasChanged = true;
    }
  }

  private hostChanged(): void {
    this.hasChanged = true;
    if (!this.looking) this.lookAgain();
  }
}

// Loaded after the activation, which is not to wait for it.
const discovery = () => import('../../hosting/discover');
