import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { deferred, type Deferred } from '../../base/deferred';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { ShutdownOutcome, StopProgress } from '../../kernel/kernel';
import { longestKill, type StopDeadlines } from '../../kernel/limits';
import {
  stateOf,
  type FamilyMember,
  type FamilyRoot,
  type Processes,
} from '../../platform/processes';
import type { Leader } from './spawn';
import { ANSWER_BEFORE_END_MS, planStop, type PlannedStep } from './stopPlan';
import { isNobody, nameRemains, sweepFamily, type Remains } from '../../platform/sweep';

interface StopTarget {
  readonly leader: Leader;
  /** Identity of the leader, where the system tells it. */
  readonly startTime: Promise<string | undefined>;
  isBusy(): boolean;
  /** Asks it by its own protocol to leave. */
  ask(): void;
  /** Interrupts what runs. */
  interrupt(): Promise<unknown>;
}

// Where a look at the process table is slow (a tool has to be run), the stop does not wait for it longer than this.
const FIRST_LOOK_MS = 250;

/** Pauses between the tries of a sweep that failed, in ms. */
const SWEEP_AGAIN_AFTER_MS = { first: 100, longest: 5_000 };

/** A clock that nobody sets: a jump of the system's must neither hurry a step nor hold it up. */
const now = (): number => performance.now();

/**
 * Stops one process and all that came of it, step by step, and knows the evidence. One climb at a time: calls while
 * it lasts join it and can only make it faster.
 */
export class StopLadder {
  private climb: { readonly result: Promise<ShutdownOutcome>; killAt: number } | undefined;
  private hurry: Deferred<void> = deferred();
  private furthest: StopProgress['step'] | undefined;
  private known: readonly FamilyMember[] = [];
  private remains: Remains = { survivors: [], isWhole: true };
  private sweeping: Promise<void> | undefined;
  /** Why the sweep has not come to an end within its time; it is tried again. */
  private sweepTrouble: string | undefined;
  private readonly sweptOrLate = deferred();
  /** Resolves when the leader has exited and what it left behind has been swept. Never rejects. */
  readonly swept: Promise<void>;

  constructor(
    private readonly target: StopTarget,
    private readonly processes: Processes,
    /** Those in force when a stop begins. */
    private readonly deadlines: () => StopDeadlines,
    private readonly onStep: (progress: StopProgress) => void,
    private readonly log: Log,
  ) {
    this.swept = target.leader.exited.then(() => this.sweep());
  }

  /** Past the asking: whatever the kernel does now, it is going. */
  get isPastAsking(): boolean {
    return this.furthest !== undefined && this.furthest !== 'ask';
  }

  /** Of those that it left behind none is alive for certain, once it is swept. */
  get leftNobody(): boolean {
    return isNobody(this.remains);
  }

  get isStopping(): boolean {
    return this.climb !== undefined;
  }

  /** Settles within `limitMs`, or, unlimited, within the sum of the deadlines. Never rejects. */
  stop(limitMs?: number): Promise<ShutdownOutcome> {
    if (this.climb === undefined) this.begin(this.plan(limitMs));
    else if (limitMs !== undefined) this.hurryTo(this.plan(limitMs));
    return this.outcomeWithin(limitMs);
  }

  /** The kill at once. */
  kill(): Promise<ShutdownOutcome> {
    const deadlines = this.deadlines();
    const plan: PlannedStep[] = [{ step: 'kill', until: deadlines.kill }];
    if (this.climb === undefined) this.begin(plan);
    else this.hurryTo(plan);
    return this.outcomeWithin(longestKill(deadlines));
  }

  private plan(limitMs: number | undefined): readonly PlannedStep[] {
    return planStop({
      busy: this.target.isBusy(),
      killedBefore: this.furthest === 'kill',
      limitMs,
      deadlines: this.deadlines(),
    });
  }

  private begin(plan: readonly PlannedStep[]): void {
    const climb = { result: Promise.resolve<ShutdownOutcome>({ confirmed: false }), killAt: 0 };
    climb.killAt = now() + killOffset(plan);
    this.climb = climb;
    this.climb = Object.assign(climb, {
      result: this.run(plan, climb)
        .catch((error: unknown): ShutdownOutcome => {
          this.log.error('A stop failed.', error);
          return { confirmed: false, reason: messageOf(error) };
        })
        .finally(() => (this.climb = undefined)),
    });
  }

  private hurryTo(plan: readonly PlannedStep[]): void {
    const killAt = now() + killOffset(plan);
    if (this.climb === undefined || killAt >= this.climb.killAt) return;
    this.climb.killAt = killAt;
    const { hurry } = this;
    this.hurry = deferred();
    hurry.resolve();
  }

  private async run(
    plan: readonly PlannedStep[],
    climb: { readonly killAt: number },
  ): Promise<ShutdownOutcome> {
    const start = now();
    await this.look();
    for (const { step, until } of plan) {
      if (this.target.leader.exit() !== undefined) break;
      const deadline = (): number =>
        step === 'kill' ? start + until : Math.min(start + until, climb.killAt);
      // When it is time for the kill, what is milder is left out. A step that is merely late is not: on a busy machine to
      // look around may take longer than a kernel has to heed the asking.
      if (step !== 'kill' && climb.killAt <= now()) continue;
      const end = step === 'kill' ? Math.max(deadline(), now() + 100) : deadline();
      this.announce(step, end);
      this.perform(step).catch((error: unknown) =>
        this.log.error(`Stopping ${this.target.leader.pid}: ${step} failed.`, error),
      );
      if (await this.exitBefore(step === 'kill' ? () => end : deadline)) break;
    }
    if (this.target.leader.exit() === undefined) return this.withoutExitEvent();
    await this.sweptOrLate.promise;
    return this.confirmed();
  }

  private async perform(step: PlannedStep['step']): Promise<void> {
    const { leader } = this.target;
    switch (step) {
      case 'ask':
        return this.target.ask();
      case 'interrupt':
        await this.target.interrupt();
        return;
      case 'terminate':
        await this.processes.signalGroup(leader.pid, 'SIGTERM');
        return;
      case 'kill':
        await this.processes.signalGroup(leader.pid, 'SIGKILL');
    }
  }

  /** Who belongs to the leader, as long as it lives: afterwards those that left its group can't be told from others. */
  private async look(): Promise<void> {
    const { leader } = this.target;
    if (leader.exit() !== undefined) return;
    const looking = this.root().then(async (root) => {
      const members = await this.processes.family(root);
      if (members !== undefined) this.known = members.filter(({ pid }) => pid !== leader.pid);
      else this.log.warn(`Who belongs to kernel ${leader.pid} cannot be told now.`);
    });
    await Promise.race([looking, delay(FIRST_LOOK_MS, undefined, { ref: false })]);
  }

  private async root(): Promise<FamilyRoot> {
    const { pid, nonce } = this.target.leader;
    const startTime = await this.target.startTime;
    return { pid, nonce, ...(startTime !== undefined && { startTime }) };
  }

  private async exitBefore(deadline: () => number): Promise<boolean> {
    while (this.target.leader.exit() === undefined) {
      const left = deadline() - now();
      if (left <= 0) return false;
      const timer = new AbortController();
      await Promise.race([
        this.target.leader.exited,
        this.hurry.promise,
        delay(left, undefined, { signal: timer.signal }).catch(() => undefined),
      ]);
      timer.abort();
    }
    return true;
  }

  /** No exit event: the process table may still be evidence. */
  private async withoutExitEvent(): Promise<ShutdownOutcome> {
    const { pid } = this.target.leader;
    const startTime = await this.target.startTime;
    const state =
      startTime === undefined ? 'unknown' : await stateOf(this.processes, { pid, startTime });
    switch (state) {
      case 'gone':
        void this.sweep();
        await this.sweptOrLate.promise;
        return this.confirmed();
      case 'alive':
        return { confirmed: false, reason: `Process ${pid} is still there after SIGKILL.` };
      case 'unknown':
        return { confirmed: false, reason: `Whether process ${pid} is gone cannot be told now.` };
    }
  }

  private sweep(): Promise<void> {
    return (this.sweeping ??= this.sweepUntilDone());
  }

  /** Out of descriptors, say: somebody frees some, and what was left behind must not be forgotten. */
  private async sweepUntilDone(): Promise<void> {
    const limit = this.deadlines().sweep;
    const end = now() + limit;
    if (this.climb !== undefined) this.announce('sweep', end);
    const { first, longest } = SWEEP_AGAIN_AFTER_MS;
    const { leader } = this.target;
    let root = await this.root();
    for (let pauseMs = first; ; pauseMs = Math.min(pauseMs * 2, longest)) {
      try {
        await this.sweepOnce(root, limit);
        break;
      } catch (error) {
        this.sweepTrouble = messageOf(error);
        this.log.warn(`Sweep after kernel ${leader.pid}: ${this.sweepTrouble}`);
        if (now() + pauseMs > end) this.sweptOrLate.resolve();
        await delay(pauseMs, undefined, { ref: false });
        // By then the leader's pid may be another's, and its group too: the mark stays.
        root = { nonce: leader.nonce };
      }
    }
    this.sweepTrouble = undefined;
    this.sweptOrLate.resolve();
  }

  private async sweepOnce(root: FamilyRoot, limitMs: number): Promise<void> {
    const { leader } = this.target;
    const remains = await sweepFamily(this.processes, root, this.known, limitMs);
    const survivors = remains.survivors.filter(({ pid }) => pid !== leader.pid);
    this.remains = { ...remains, survivors };
    if (!remains.isWhole) throw new Error('The process table cannot be read now.');
    if (survivors.length > 0) {
      this.log.warn(`Outlived kernel ${leader.pid}: ${nameRemains(this.remains)}.`);
    }
  }

  /** `end` as `now` counts. */
  private announce(step: StopProgress['step'], end: number): void {
    if (step !== 'sweep') this.furthest = step;
    this.log.debug(`Stopping ${this.target.leader.pid}: ${step}.`);
    const startedAt = Date.now();
    this.onStep({ step, startedAt, deadline: startedAt + Math.round(end - now()) });
  }

  private confirmed(): ShutdownOutcome {
    if (this.sweepTrouble !== undefined) {
      const reason = `What it left behind is still being looked for: ${this.sweepTrouble}`;
      return { confirmed: true, reason };
    }
    if (this.leftNobody) return { confirmed: true };
    return { confirmed: true, reason: `Outlived the kernel: ${nameRemains(this.remains)}.` };
  }

  private async outcomeWithin(limitMs: number | undefined): Promise<ShutdownOutcome> {
    const result = this.climb?.result ?? Promise.resolve(this.confirmed());
    if (limitMs === undefined) return result;
    const timer = new AbortController();
    const inTime = Math.max(0, limitMs - ANSWER_BEFORE_END_MS / 2);
    const late = delay(inTime, undefined, { signal: timer.signal }).then((): ShutdownOutcome =>
      this.target.leader.exit() !== undefined
        ? { confirmed: true, reason: 'What it left behind is still being swept.' }
        : { confirmed: false, reason: `No exit of ${this.target.leader.pid} was seen in time.` },
    );
    late.catch(() => undefined); // Its timer was not needed.
    const outcome = await Promise.race([result, late]);
    timer.abort();
    return outcome;
  }
}

function killOffset(plan: readonly PlannedStep[]): number {
  return plan.at(-2)?.until ?? 0;
}
