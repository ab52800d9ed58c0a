import type { PooledKernel } from '../kernel/kernel';
import type { KernelOutput } from '../kernel/output';
import type { Call, CallPlace, TurnEnd } from './call';
import type { NotRunCause } from './outcome';

interface LaneEvents {
  onChange(): void;
  onLateOutput(executionId: string, output: KernelOutput): void;
  /** A run ignores its own limit. Resolves when the stop of its kernel was tried. */
  stopKernel(): Promise<void>;
  /** The kernel is free again. */
  onTurnOver(call: Call, end: TurnEnd): void;
}

/** One call at a time, first come first served. */
export class Lane implements CallPlace {
  private waiting: Call[] = [];
  /** The call whose turn it is. */
  current: Call | undefined;
  /** Its turn began in an earlier pool and goes on when the kernel is there. */
  private resumed: Call | undefined;

  constructor(private readonly events: LaneEvents) {}

  get isEmpty(): boolean {
    return this.current === undefined && this.waiting.length === 0;
  }

  get queue(): readonly Call[] {
    return this.waiting;
  }

  push(call: Call): void {
    call.place = this;
    this.waiting.push(call);
  }

  /** Gives the first in line its turn. */
  begin(kernel: PooledKernel, newsFor: (call: Call) => readonly string[]): void {
    const call = this.waiting.shift();
    if (!call) return;
    call.place = undefined;
    this.current = call;
    this.events.onChange();
    this.perform(call, kernel, newsFor);
  }

  /** It has its turn from now on: an earlier pool sent its code. That goes on with `goOn`. */
  resume(call: Call): void {
    this.current = call;
    this.resumed = call;
  }

  /** The kernel is there, or what is known of it, for a turn that an earlier pool began. */
  goOn(kernel: PooledKernel, newsFor: (call: Call) => readonly string[]): void {
    const { resumed } = this;
    this.resumed = undefined;
    if (resumed) this.perform(resumed, kernel, newsFor);
  }

  private perform(
    call: Call,
    kernel: PooledKernel,
    newsFor: (call: Call) => readonly string[],
  ): void {
    call.perform(kernel, {
      news: newsFor(call),
      onChange: () => this.events.onChange(),
      onLateOutput: (output) => this.events.onLateOutput(call.executionId, output),
      stopKernel: async () => {
        if (this.current === call) await this.events.stopKernel();
      },
      onFree: (end) => {
        // A turn that was cut off because its kernel is gone frees nothing any more.
        if (this.current !== call) return;
        this.current = undefined;
        this.events.onTurnOver(call, end);
      },
    });
  }

  /** The kernel is gone, and no answer will come. */
  cutOff(cause: string): void {
    const { current } = this;
    this.current = undefined;
    this.resumed = undefined;
    current?.kernelGone(cause);
  }

  waitingFor(): undefined {}

  leave(call: Call): void {
    this.remove(call);
    this.events.onChange();
  }

  remove(call: Call): void {
    this.waiting = this.waiting.filter((other) => other !== call);
    call.place = undefined;
  }

  /** Everybody in line, who is in it no more. */
  takeQueue(which: (call: Call) => boolean = () => true): readonly Call[] {
    const taken = this.waiting.filter(which);
    this.waiting = this.waiting.filter((call) => !taken.includes(call));
    for (const call of taken) call.place = undefined;
    return taken;
  }

  cancelQueue(cause: NotRunCause, which?: (call: Call) => boolean): void {
    for (const call of this.takeQueue(which)) call.notRun(cause);
  }
}
