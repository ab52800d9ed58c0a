import type { Clock } from '../../base/clock';
import { messageOf } from '../../base/errors';
import { Emitter } from '../../base/event';
import type { Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import type { FoundHost } from '../../hosting/discover';

const LETS_GO_WITHIN_MS = 10_000;
/** A host that stops its kernels is gone by then. */
const GONE_WITHIN_MS = 15_000;

/** The kernel hosts of this user that live, whichever window they belong to, as they were at the last look. */
export class Hosts implements Disposable {
  private readonly changed = new Emitter<void>();
  private found: readonly FoundHost[] = [];
  private looking: Promise<readonly FoundHost[]> | undefined;
  private chosen: FoundHost | undefined;
  private readonly openedAt: number;
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
    this.looking ??= this.lookNow().finally(() => (this.looking = undefined));
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

  /** Has a host whose window is gone stop its kernels now. Looks until it is gone, 15 s at most, after this resolves. */
  async dismiss(pid: number): Promise<void> {
    const host = this.found.find((each) => each.pid === pid && each.isOrphan);
    if (host) await (await discovery()).dismissHost(host);
    await this.look();
    if (host)
      this.watchTheEnd(host).catch((error: unknown) => this.parts.log.warn(messageOf(error)));
  }

  dispose(): void {
    this.isDisposed = true;
    this.changed.dispose();
  }

  private async watchTheEnd({ pid }: FoundHost): Promise<void> {
    const { nextChangeOf } = await discovery();
    const { clock } = this.parts;
    const giveUpAt = clock.now() + GONE_WITHIN_MS;
    for (;;) {
      const host = this.found.find((each) => each.pid === pid);
      const left = giveUpAt - clock.now();
      if (!host || left <= 0 || this.isDisposed) return;
      await nextChangeOf(host, left);
      await this.look();
    }
  }

  private async lookNow(): Promise<readonly FoundHost[]> {
    const { workspace, log } = this.parts;
    const { discoverHosts } = await discovery();
    this.found = await discoverHosts({ workspace, log });
    this.changed.fire();
    return this.found;
  }
}

// Loaded after the activation, which is not to wait for it.
const discovery = () => import('../../hosting/discover');
