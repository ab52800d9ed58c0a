import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '../../src/base/log';
import { reapDeadHosts } from '../../src/ledger/reap';
import { platformProcesses } from '../../src/platform/processes';
import { until } from '../support/until';
import { actions, ENDED_EARLY, isHost, type Action, type Field } from './actions';
import {
  census,
  ledgers,
  listeningBelow,
  nameOf,
  hostOfFolder,
  statusOf,
  type Living,
} from './census';
import { Random } from './random';
import { Slot } from './slot';

export interface ChaosOptions {
  readonly seed: number;
  readonly seconds: number;
  /** A short path of the chaos's own, empty. */
  readonly root: string;
  readonly windowScript: string;
  readonly hostScript: string;
  readonly runnersDir: string;
  readonly interpreter: string;
}

const WINDOWS = 3;
const GRACE_MS = 8_000;
/** What nobody holds has the grace period and this to be gone. */
const GONE_WITHIN_MS = 5_000;
const CENSUS_EVERY_MS = 400;
const CALM_WITHIN_MS = 60_000;
/** Windows that are told of late are not held against their sessions. */
const SLACK_MS = 1_500;

/** The figures of `atLeast` are for so many seconds. */
const MEASURED_OVER_S = 240;
const TAKEN_UP = 'windows that took up';
const ENDED_ELSEWHERE = 'runs that ended in a later window';
const LOOPS = 'loops that were ended';
const OUTLIVED = 'kernels that outlived their window';
/** What is to have come of it at least. */
const SHOWN: readonly (readonly [string, number])[] = [
  [TAKEN_UP, 15],
  [ENDED_EARLY, 4],
  [ENDED_ELSEWHERE, 10],
  [LOOPS, 8],
  ['runs ok', 60],
  ['runs error', 4],
  ['runs cancelled', 40],
  [OUTLIVED, 8],
];

/** What went wrong, and the last of what was done before. */
export interface ChaosReport {
  readonly wrong: readonly string[];
  readonly last: readonly string[];
  readonly runs: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Ends and stops whatever can be ended and stopped, and watches what becomes of it. */
export class Chaos implements Field {
  readonly random: Random;
  readonly slots: readonly Slot[];
  isOver = false;
  private readonly began = Date.now();
  private readonly mark = randomUUID();
  private readonly runtimeDir: string;
  private readonly journal: string[] = [];
  private readonly wrong: string[] = [];
  private readonly works = new Set<Promise<void>>();
  private present: readonly Living[] = [];
  private readonly done = new Map<string, number>();
  /** For how long nobody has held what should go, in ms without the time when it could not: by process or folder. */
  private readonly loose = new Map<string, number>();
  private lookedAt = Date.now();
  private readonly deadHosts = new Map<number, number>();
  private lastLook = 0;
  private runs = 0;

  constructor(private readonly options: ChaosOptions) {
    const { seed, root, windowScript, hostScript, runnersDir, interpreter } = options;
    this.random = new Random(seed);
    this.runtimeDir = path.join(root, 'run');
    mkdirSync(this.runtimeDir, { mode: 0o700 });
    const assignment = { hostScript, runnersDir, interpreter, graceMs: GRACE_MS, capacity: 4 };
    this.slots = Array.from({ length: WINDOWS }, (_, index) => {
      return new Slot({
        name: `w${index}`,
        root,
        mark: this.mark,
        script: windowScript,
        assignment,
        runtimeDir: this.runtimeDir,
        onWrong: (complaint) => this.complain(complaint),
        onNote: (note) => this.note(note),
      });
    });
  }

  living(): readonly Living[] {
    return this.present;
  }

  nextRun(): string {
    return `r${++this.runs}`;
  }

  note(what: string): void {
    this.journal.push(`${((Date.now() - this.began) / 1_000).toFixed(2).padStart(7)} ${what}`);
  }

  count(what: string): void {
    this.done.set(what, (this.done.get(what) ?? 0) + 1);
  }

  later(work: Promise<void>): void {
    const settled = work.catch((error: unknown) => this.complain(String(error)));
    this.works.add(settled);
    void settled.then(() => this.works.delete(settled));
  }

  async run(): Promise<ChaosReport> {
    for (const slot of this.slots) slot.open();
    const endsAt = this.began + this.options.seconds * 1_000;
    let nextCensus = 0;
    while (Date.now() < endsAt && this.wrong.length === 0) {
      if (Date.now() >= nextCensus) {
        this.look();
        nextCensus = Date.now() + CENSUS_EVERY_MS;
      }
      const slot = this.random.pick(this.slots);
      const action = this.nextAction();
      if (slot && action?.act(this, slot)) this.count(action.name);
      await delay(this.random.between(20, 300));
    }
    if (this.wrong.length === 0) await this.calmDown();
    if (this.wrong.length === 0) await this.leave();
    if (this.wrong.length === 0) this.complainOfLittle();
    writeFileSync(path.join(this.options.root, 'journal.txt'), this.journal.join('\n'));
    return {
      wrong: this.wrong,
      last: this.journal.slice(-120),
      runs: this.runs,
      counts: Object.fromEntries(this.account().map(({ what, count }) => [what, count])),
    };
  }

  /** Ends by pid whatever is left, for a chaos that has failed. */
  endAll(): void {
    for (const { pid, start } of census(this.mark)) {
      if (statusOf(pid)?.start === start) process.kill(pid, 'SIGKILL');
    }
  }

  /** Everybody has a window again, nothing is stopped, and what still runs comes to its end. */
  private async calmDown(): Promise<void> {
    this.note('calming down');
    await this.watch(() => this.works.size === 0, CALM_WITHIN_MS);
    for (const slot of this.slots) if (!slot.window) slot.open();
    await this.watch(() => this.slots.every(({ attached }) => attached), CALM_WITHIN_MS);
    const isCalm = (): boolean => {
      for (const slot of this.slots) this.endLoops(slot);
      return this.slots.every(({ attached }) =>
        attached?.sessions.every(({ state }) => state === 'idle' || state === 'dead'),
      );
    };
    const calm = await this.watch(isCalm, CALM_WITHIN_MS);
    if (!calm) {
      const busy = this.slots.map(({ name, attached }) => [name, attached?.sessions]);
      this.complain(`not every session comes to rest: ${JSON.stringify(busy)}`);
    }
    const sum = (what: 'takenUp' | 'notTakenUp'): number =>
      this.slots.reduce((total, slot) => total + slot[what], 0);
    if (sum('notTakenUp') > 2 + sum('takenUp') / 3) {
      this.complain(`${sum('notTakenUp')} windows could not take up what was there`);
    }
    if (this.wrong.length > 0) return;
    for (const slot of this.slots) {
      for (const wrong of slot.wrongAtRest()) this.complain(`${slot.name}: ${wrong}`);
    }
  }

  private endLoops(slot: Slot): void {
    const { attached } = slot;
    for (const { id, pid, execution } of attached?.sessions ?? []) {
      const run = execution === null ? undefined : slot.runs.get(execution);
      const kernel = run?.kernel;
      if (!run || !kernel || run.code.ends !== undefined || run.wasInterrupted === undefined) {
        if (run && !run.code.ends) run.wasInterrupted = true;
        continue;
      }
      // What waits behind it goes with it.
      if (run.code.name === 'a stubborn loop') slot.touch(kernel, 'ends');
      const how = run.code.name === 'a stubborn loop' ? 'kill' : 'interrupt';
      attached?.tell({ do: how, id, pid: pid ?? 0 });
    }
  }

  /** Every window closes; then nothing is left. */
  private async leave(): Promise<void> {
    this.isOver = true;
    this.note('leaving');
    for (const slot of this.slots) {
      slot.doubt('may');
      slot.end(this.random.chance(0.5) ? 'SIGKILL' : 'leave');
    }
    const isEmpty = (): boolean => census(this.mark).length === 0;
    if (!(await until(isEmpty, GRACE_MS + GONE_WITHIN_MS, 100))) {
      this.complain(`left at the end: ${this.names(census(this.mark)).join(', ')}`);
    }
    // As the next start of any host does: where window and host were killed, nobody else could.
    await reapDeadHosts({ processes: platformProcesses(), log: silentLog }, this.runtimeDir);
    // A folder without a ledger is of a window that was killed before its host came to be: kept until it is old.
    const folders = ledgers(this.runtimeDir).folders.filter(
      (folder) => hostOfFolder(path.join(this.runtimeDir, folder)) !== undefined,
    );
    if (folders.length > 0) this.complain(`folders left at the end: ${folders.join(', ')}`);
    const sockets = listeningBelow(this.runtimeDir);
    if (sockets.length > 0) this.complain(`sockets left at the end: ${sockets.join(', ')}`);
  }

  private async watch(holds: () => boolean, limitMs: number): Promise<boolean> {
    const looked = (): boolean => {
      this.look();
      return holds() || this.wrong.length > 0;
    };
    return until(looked, limitMs, CENSUS_EVERY_MS);
  }

  private look(): void {
    const now = Date.now();
    this.present = census(this.mark);
    const { hostOf, folders } = ledgers(this.runtimeDir);
    const pids = new Set(this.present.map(({ pid }) => pid));
    for (const pid of [...hostOf.values()]) if (!pids.has(pid)) this.died(pid, now);
    for (const { window } of this.slots) {
      if (window?.isReady) this.lastLook = Math.max(this.lastLook, window.openedAt);
    }
    const present = new Set<string>();
    for (const each of this.present) {
      const slot = this.slots.find(({ name }) => name === each.slot);
      if (!slot) continue;
      const name = nameOf(each);
      present.add(name);
      const host = each.nonce === undefined ? undefined : hostOf.get(each.nonce);
      this.judge(name, now, {
        isHeld: slot.holds(each),
        isExcused: isFrozen(slot),
        from: Math.max(this.canBeReapedFrom(slot, host), slot.heldUntil(host ?? each.pid)),
        tell: () => `${slot.name}: nobody holds ${this.names([each]).join()}`,
      });
    }
    for (const folder of folders) {
      present.add(folder);
      const host = hostOfFolder(path.join(this.runtimeDir, folder));
      this.judge(folder, now, {
        isHeld: host === undefined || pids.has(host),
        isExcused: false,
        from: this.canBeReapedFrom(undefined, host),
        tell: () => `the folder ${folder} of host ${host} is left`,
      });
    }
    for (const name of this.loose.keys()) if (!present.has(name)) this.loose.delete(name);
    for (const slot of this.slots) this.judgeSlot(slot, now);
    this.lookedAt = now;
  }

  private judge(
    name: string,
    now: number,
    {
      isHeld,
      isExcused,
      from,
      tell,
    }: { isHeld: boolean; isExcused: boolean; from: number; tell(): string },
  ): void {
    if (isHeld) return void this.loose.delete(name);
    const before = this.loose.get(name);
    // Between two looks it may have been held.
    const isFirst = before === undefined || from > this.lookedAt;
    const since = before === undefined ? now : Math.max(this.lookedAt, from);
    const more = isExcused ? 0 : Math.max(0, now - since);
    const over = (isFirst ? 0 : before) + more;
    this.loose.set(name, over);
    if (over > GRACE_MS + GONE_WITHIN_MS) this.complain(`${tell()} since ${over} ms`);
  }

  /**
   * When host and window were killed, what escaped from the kernel's group waits for the next window to look, whichever
   * that is.
   */
  private canBeReapedFrom(slot: Slot | undefined, host: number | undefined): number {
    const died = host === undefined ? undefined : this.deadHosts.get(host);
    if (died === undefined || slot?.attached?.hostPid === host) return 0;
    return this.lastLook > died ? this.lastLook : Infinity;
  }

  private died(pid: number, now: number): void {
    if (!this.deadHosts.has(pid)) this.deadHosts.set(pid, now);
  }

  private judgeSlot(slot: Slot, now: number): void {
    const { emptySince } = slot;
    // Its successor has not come in time, as on a machine that is busy with others.
    if (emptySince !== undefined && now - emptySince > GRACE_MS - SLACK_MS) slot.doubt('may');
    const hosts = this.present.filter((each) => each.slot === slot.name && isHost(each, slot));
    if (hosts.length > 1 && !slot.attached) slot.doubt('may');
    for (const lost of slot.lost()) this.complain(`lost: ${lost}`);
  }

  private names(processes: readonly Living[]): string[] {
    return processes.map(({ pid, slot, nonce, command, isStopped }) => {
      const kind = nonce === undefined ? 'window or host' : 'kernel or child';
      return `${pid} (${kind} of ${slot}${isStopped ? ', stopped' : ''}: ${command.slice(0, 120)})`;
    });
  }

  private complain(complaint: string): void {
    this.note(`WRONG ${complaint}`);
    this.wrong.push(complaint);
  }

  /** By weight; what has fallen behind its minimum comes first now and then. */
  private nextAction(): Action | undefined {
    const share = (Date.now() - this.began) / 1_000 / MEASURED_OVER_S;
    const behind = actions.filter(
      ({ name, atLeast }) => (this.done.get(name) ?? 0) < atLeast * share,
    );
    return this.random.chance(0.2)
      ? (this.random.choose(behind) ?? this.random.choose(actions))
      : this.random.choose(actions);
  }

  /** What was done and what came of it, and how much of each is the least. */
  private account(): { readonly what: string; readonly count: number; readonly atLeast: number }[] {
    const { done } = this;
    const ends = new Map<string, number>();
    const add = (what: string, more = 1): void => void ends.set(what, (ends.get(what) ?? 0) + more);
    for (const slot of this.slots) {
      add(TAKEN_UP, slot.takenUp);
      add('windows that could not take up', slot.notTakenUp);
      add(ENDED_ELSEWHERE, slot.endedElsewhere);
      for (const { end, code } of slot.runs.values()) {
        add(`runs ${end?.state ?? 'without an end'}`);
        if (end && !code.ends) add(LOOPS);
      }
      for (const { hasOutlivedWindow } of slot.kernels.values())
        if (hasOutlivedWindow) add(OUTLIVED);
    }
    const least = new Map([
      ...actions.map(({ name, atLeast }) => [name, atLeast] as const),
      ...SHOWN,
    ]);
    return [...new Set([...least.keys(), ...done.keys(), ...ends.keys()])].map((what) => ({
      what,
      count: done.get(what) ?? ends.get(what) ?? 0,
      atLeast: Math.floor(((least.get(what) ?? 0) * this.options.seconds) / MEASURED_OVER_S),
    }));
  }

  /** One that has hardly done or seen anything has shown nothing. */
  private complainOfLittle(): void {
    for (const { what, count, atLeast } of this.account()) {
      if (count < atLeast) this.complain(`${what}: ${count}, where ${atLeast} are the least`);
    }
  }
}

/** Nothing is held against it: somebody in it was stopped by us and goes on later. */
function isFrozen({ stoppedHost, window }: Slot): boolean {
  return stoppedHost !== undefined || window?.isStopped === true;
}
