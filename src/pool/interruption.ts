import type { Clock } from '../base/clock';
import { DisposableStore, type Disposable } from '../base/disposable';
import type { PooledKernel } from '../kernel/kernel';
import { abortReason, type LimitCause } from './deadline';

/** How long an interrupt may go unheeded before the next step. */
export const HEED_WITHIN_MS = 5_000;

// Enough for an async function that answers in its abort listener to be heard through its promises.
const HOPS_TO_ANSWER = 12;

/** An interrupt that a person sent by the kernel's own means. It ends nothing here, but it may go unheeded. */
export class SentInterrupt implements Disposable {
  readonly at: number;
  unheededSince: number | undefined;
  private readonly timer: Disposable;

  constructor(clock: Clock, onUnheeded: () => void) {
    this.at = clock.now();
    this.timer = clock.after(HEED_WITHIN_MS, () => {
      this.unheededSince = this.at;
      onUnheeded();
    });
  }

  dispose(): void {
    this.timer.dispose();
  }
}

interface InterruptionEvents {
  /** It was not heeded in time. */
  onUnheeded(): void;
  /** Not heeded, and a limit of the run itself: stops the kernel. Resolves when that was tried; never rejects. */
  stopKernel(): Promise<void>;
  /** Nothing more can be done: the caller need not wait for the kernel any longer. */
  onGivenUp(): void;
}

/** A run being told to stop: by its signal first, and for a limit of its own by a stop of its kernel when that is not heeded. */
export class Interruption implements Disposable {
  readonly at: number;
  unheededSince: number | undefined;
  private readonly timers = new DisposableStore();

  constructor(
    readonly cause: LimitCause,
    private readonly kernel: PooledKernel,
    clock: Clock,
    private readonly events: InterruptionEvents,
  ) {
    this.at = clock.now();
    this.timers.add(clock.after(HEED_WITHIN_MS, () => void this.notHeeded()));
  }

  send(abort: AbortController): void {
    abort.abort(abortReason(this.cause));
    // Of a kernel that offers no further step nothing more can be expected than its answer to the signal.
    const { kill, interrupt } = this.kernel;
    if (kill === undefined && interrupt === undefined) void this.giveUpAfterAnswer();
  }

  dispose(): void {
    this.timers.dispose();
  }

  private async giveUpAfterAnswer(): Promise<void> {
    for (let hop = 0; hop < HOPS_TO_ANSWER; hop++) await Promise.resolve();
    if (!this.timers.isDisposed) this.events.onGivenUp();
  }

  private async notHeeded(): Promise<void> {
    this.unheededSince = this.at;
    this.events.onUnheeded();
    // Only a limit of the run itself escalates; otherwise that is for a person to decide.
    if (this.cause.kind === 'timedOut') await this.events.stopKernel();
    if (!this.timers.isDisposed) this.events.onGivenUp();
  }
}
