import { AsyncLocalStorage } from 'node:async_hooks';
import { deferred, type Deferred } from '../base/deferred';
import { HoldfastError } from '../base/errors';
import type { Log } from '../base/log';
import {
  count,
  emptyState,
  impossibilityOf,
  obstacleTo,
  type AdmissionState,
  type LeaseClass,
  type OwnerToken,
} from './admissionState';
import type { Lease } from './lease';
import { unlessAborted } from './unlessAborted';

interface AdmissionOptions {
  /** False: captures record nothing, and are free. */
  readonly captureEnabled: boolean;
  readonly log?: Pick<Log, 'error'>;
}

/**
 * Who may write to the workspace beside whom. A refusal rejects with `capture_busy`, or with `capture_unavailable` once
 * the state has been found impossible: then nothing is admitted any more.
 */
export interface Admission {
  /** Runs `fn` within a capture. Within itself it may nest, through async calls too. */
  capture<T>(fn: () => T | PromiseLike<T>): Promise<T>;
  /** Runs `fn`, which edits workspace files, within an external mutation. May nest as a capture may. */
  externalMutation<T>(fn: () => T | PromiseLike<T>): Promise<T>;
  /** Whoever asked releases it. */
  background(): Promise<Lease>;
  /**
   * Runs `fn`, a run that takes no lease: after the capture that is going on, if any, and counted, so that no capture
   * begins beside it. A capture's own run goes on at once. Aborted while it waits, it rejects with the signal's reason.
   */
  ordinaryRun<T>(
    fn: () => T | PromiseLike<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
  readonly isCapturing: boolean;
  /** For diagnostics. */
  readonly state: AdmissionState;
}

export function createAdmission(options: AdmissionOptions): Admission {
  return new Coordinator(options);
}

/** A lease, or the place of a run that takes none. */
interface Held {
  release(): void;
}

class Coordinator implements Admission {
  readonly state = emptyState();
  private readonly owner = new AsyncLocalStorage<OwnerToken>();
  /** What is held for real, by which the counts are checked. */
  private readonly held: Record<LeaseClass | 'run', Set<Held>> = {
    capture: new Set(),
    background: new Set(),
    mutation: new Set(),
    run: new Set(),
  };
  /** Runs that wait for the end of a capture. */
  private readonly waiting = new Set<Deferred<Held>>();
  private poison: string | undefined;

  constructor(private readonly parts: AdmissionOptions) {}

  get isCapturing(): boolean {
    return this.held.capture.size > 0;
  }

  readonly capture = async <T>(fn: () => T | PromiseLike<T>): Promise<T> => {
    if (this.parts.captureEnabled) return this.within('capture', fn);
    this.assertSound();
    return fn();
  };

  readonly externalMutation = async <T>(fn: () => T | PromiseLike<T>): Promise<T> =>
    this.within('mutation', fn);

  readonly background = (): Promise<Lease> =>
    new Promise((resolve) => resolve(this.enter('background', Symbol('background'))));

  readonly ordinaryRun = async <T>(
    fn: () => T | PromiseLike<T>,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<T> => {
    const isPartOfCapture = this.isCapturing && this.owner.getStore() === this.state.captureOwner;
    if (isPartOfCapture) return fn();
    const place = await this.enterRun(signal);
    try {
      return await fn();
    } finally {
      place.release();
    }
  };

  private async within<T>(
    leaseClass: 'capture' | 'mutation',
    fn: () => T | PromiseLike<T>,
  ): Promise<T> {
    const carried = this.owner.getStore();
    const isCurrent = carried !== undefined && carried === ownerOf(leaseClass, this.state);
    // A token whose leases are all given back is nobody's: work that was left behind is a new owner.
    const token = isCurrent ? carried : Symbol(leaseClass);
    const lease = this.enter(leaseClass, token);
    try {
      return await this.owner.run(token, async () => fn());
    } finally {
      lease.release();
    }
  }

  private enter(leaseClass: LeaseClass, token: OwnerToken): Held {
    this.assertSound();
    const obstacle = obstacleTo(leaseClass, this.state, token);
    if (obstacle !== undefined) throw busy(leaseClass, obstacle);
    const lease: Held = { release: () => this.release(leaseClass, lease, token) };
    this.held[leaseClass].add(lease);
    count(this.state, leaseClass, 1, token);
    return lease;
  }

  /** Never throws: it must not hide the error under way. */
  private release(leaseClass: LeaseClass, lease: Held, token: OwnerToken): void {
    if (!this.held[leaseClass].has(lease)) return;
    this.checkRelease(leaseClass, token);
    this.held[leaseClass].delete(lease);
    if (this.poison === undefined) count(this.state, leaseClass, -1, token);
    if (!this.isCapturing) this.letRunsGo();
  }

  private async enterRun(signal: AbortSignal | undefined): Promise<Held> {
    signal?.throwIfAborted();
    if (!this.isCapturing || this.poison !== undefined) return this.placeOfRun();
    const turn = deferred<Held>();
    this.waiting.add(turn);
    const place = await (signal ? unlessAborted(turn.promise, signal) : turn.promise);
    if (place) return place;
    // Its turn may have come in the moment of the abort.
    if (!this.waiting.delete(turn)) (await turn.promise).release();
    signal?.throwIfAborted();
    throw new HoldfastError('closed', 'The run was called off.');
  }

  private placeOfRun(): Held {
    const place: Held = {
      release: () => {
        if (this.held.run.delete(place)) this.state.ordinaryCount--;
      },
    };
    this.held.run.add(place);
    this.state.ordinaryCount++;
    return place;
  }

  /** In one step with the end of the capture, so that no other one comes between. */
  private letRunsGo(): void {
    const turns = [...this.waiting];
    this.waiting.clear();
    for (const turn of turns) turn.resolve(this.placeOfRun());
  }

  private assertSound(): void {
    this.check(impossibilityOf(this.state) ?? this.disagreement());
    if (this.poison === undefined) return;
    throw new HoldfastError(
      'capture_unavailable',
      `Captures, background runs and edits are not admitted until this window is reloaded: ${this.poison}.`,
    );
  }

  private checkRelease(leaseClass: LeaseClass, by: OwnerToken): void {
    const isOwner = leaseClass === 'background' || ownerOf(leaseClass, this.state) === by;
    this.check(
      impossibilityOf(this.state) ??
        this.disagreement() ??
        (isOwner ? undefined : 'a lease was released by another'),
    );
  }

  /** Counts that nobody here has set. */
  private disagreement(): string | undefined {
    const { captureCount, backgroundCount, mutationCount, ordinaryCount } = this.state;
    const { capture, background, mutation, run } = this.held;
    const agree =
      captureCount === capture.size &&
      backgroundCount === background.size &&
      mutationCount === mutation.size &&
      ordinaryCount === run.size;
    return agree ? undefined : 'the counts are not those of the leases';
  }

  private check(impossibility: string | undefined): void {
    if (impossibility === undefined || this.poison !== undefined) return;
    this.poison = impossibility;
    this.parts.log?.error(`Admission is closed for good: ${impossibility}.`);
    // A person's own runs need no lease, and wait for nothing that may never end.
    this.letRunsGo();
  }
}

function ownerOf(
  leaseClass: 'capture' | 'mutation',
  { captureOwner, mutationOwner }: AdmissionState,
): OwnerToken | undefined {
  return leaseClass === 'capture' ? captureOwner : mutationOwner;
}

const names: Record<LeaseClass, string> = {
  capture: 'A run with capture',
  background: 'A background run',
  mutation: 'An edit of workspace files',
};

const going: Record<LeaseClass | 'run', string> = {
  capture: 'a run with capture goes on',
  background: 'background runs go on',
  mutation: 'workspace files are being edited',
  run: 'another run of this window goes on',
};

function busy(wanted: LeaseClass, obstacle: LeaseClass | 'run'): HoldfastError {
  return new HoldfastError(
    'capture_busy',
    `${names[wanted]} can't begin while ${going[obstacle]}. Try again when that is over.`,
  );
}
