import type { Clock } from '../../base/clock';
import type { Disposable } from '../../base/disposable';
import { HoldfastError } from '../../base/errors';
import { Emitter } from '../../base/event';
import { lazy } from '../../base/lazy';
import type { CodeSource } from '../../kernel/execution';
import type { Language } from '../../kernel/language';
import type { ExecutionResult, RunOrigin } from '../../pool/types';
import type { BackgroundReport, BackgroundSnapshot } from '../../runner/backgroundTypes';
import type { Door } from '../door';
import type { Adoption, Place } from '../../hosting';
import type { BackgroundRunsHere } from './backgroundRunsHere';
import type { BackgroundFacts } from '../sessions/backgroundRows';
import { keyOf } from './session';

/** A background run as it is asked for. */
interface BackgroundLaunch {
  readonly code: string;
  /** Whose end ends it. Default: this window. */
  readonly owner?: string;
  /** For people: who that is, where it is not the person at this window. */
  readonly ownerName?: string;
  /** Default: a person. */
  readonly origin?: RunOrigin;
  readonly language?: Language;
  /** Canonical working directory of its kernel. */
  readonly cwd: string;
  /** Only one that was chosen explicitly. */
  readonly interpreter?: string | undefined;
  /** For people. Default: the first line of the code. */
  readonly label?: string;
  readonly source?: CodeSource;
  readonly excludeFromContext?: boolean;
}

interface BackgroundWorkParts {
  /** This window. */
  readonly ownerId: string;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly door: Pick<Door, 'admit'>;
  /** Throws where nothing may run. */
  assertAllowed(): void;
  /** Resolves when what the window before this one has left is taken up. */
  ready(): Promise<unknown>;
  /** Loads what runs them. Called once, at the first need. */
  load(changed: () => void): Promise<BackgroundRunsHere>;
}

/** A launch that the engine does not know of yet. */
interface Pending {
  readonly owner: string;
  isCalledOff: boolean;
}

/**
 * Code that runs in kernels of its own, beside the sessions, for as long as its owner is there: what commands, agents and
 * other programs launch, look at and stop.
 */
export class BackgroundWork implements Disposable {
  private readonly changed = new Emitter<void>();
  /** Over since before this window, or without ever having had a kernel. */
  private readonly earlier = new Map<string, BackgroundSnapshot>();
  private readonly pending = new Set<Pending>();
  private here: BackgroundRunsHere | undefined;
  private readonly load = lazy(async () => {
    this.here = await this.parts.load(() => this.changed.fire());
    return this.here;
  });

  constructor(private readonly parts: BackgroundWorkParts) {}

  /** A run came or went, or its state changed. Not told of output. */
  readonly onDidChange = this.changed.event;

  /**
   * Answers when its kernel has started. Rejects with `untrusted_workspace`, `closed`, `too_many_runs`, what a hook threw,
   * or what kept the kernel from starting. A hook may have supplied the result: then it is over.
   */
  async launch(
    launch: BackgroundLaunch,
  ): Promise<Pick<BackgroundSnapshot, 'executionId' | 'status'>> {
    const { ownerId, newId, clock } = this.parts;
    const { code, owner = ownerId, origin = 'person', interpreter, ...rest } = launch;
    this.parts.assertAllowed();
    const startedAt = clock.now();
    const options = {
      executionId: newId(),
      language: 'python',
      origin,
      ownerId: owner,
      ...rest,
      ...(interpreter !== undefined && { interpreter }),
    };
    const pending: Pending = { owner, isCalledOff: false };
    this.pending.add(pending);
    try {
      const supplied = await this.parts.door.admit(owner, code, options);
      const here = await this.ready(pending, supplied);
      if (supplied) return this.supplied({ ...options, code, startedAt }, supplied, here);
      return await here.launch(code, options);
    } finally {
      this.pending.delete(pending);
    }
  }

  /** Never waits. Throws `run_not_found`, as do those below. */
  peek(executionId: string): BackgroundSnapshot {
    const known = this.earlier.get(executionId) ?? this.here?.find(executionId);
    if (known) return known;
    throw new HoldfastError('run_not_found', `There is no background run ${executionId}.`);
  }

  /** Oldest first. */
  list(): readonly BackgroundSnapshot[] {
    const all = [...this.earlier.values(), ...(this.here?.list() ?? [])];
    return all.sort((a, b) => a.startedAt - b.startedAt);
  }

  /** Interrupts once, and waits up to 5 s for its end. The report says where the interrupt did not arrive. */
  async interrupt(executionId: string): Promise<BackgroundReport> {
    return this.here?.interrupt(executionId) ?? this.peek(executionId);
  }

  /** Kills its kernel, and waits up to 5 s for its end. */
  async kill(executionId: string): Promise<BackgroundReport> {
    return this.here?.kill(executionId) ?? this.peek(executionId);
  }

  /** The run of a tab in the panel. */
  withKey(key: string): BackgroundSnapshot | undefined {
    return this.list().find(({ request }) => keyOf(request) === key);
  }

  /** As `list`, with what people see of each besides. */
  look(): readonly BackgroundFacts[] {
    return this.list().map((run) => ({
      ...run,
      ...this.here?.kernelOf(run.executionId),
      unheeded: this.here?.isUnheeded(run.executionId) ?? false,
    }));
  }

  /** Removes one that is over, with its output. Rejects with `bad_input` for one that runs. */
  async remove(executionId: string): Promise<void> {
    const snapshot = this.peek(executionId);
    const here = await this.load();
    if (this.earlier.delete(executionId)) await here.removed(snapshot);
    else await here.remove(executionId);
    this.changed.fire();
  }

  /** Ends what an owner runs: interrupt, wait, kill, wait. Rejects where one stays. */
  async disposeOwner(ownerId: string): Promise<void> {
    for (const pending of this.pending) if (pending.owner === ownerId) pending.isCalledOff = true;
    await this.here?.disposeOwner(ownerId);
  }

  /**
   * Goes on with what the window before this one has left. Resolves to the places of the kernels that it wants to have,
   * once all are taken up.
   */
  async takeUp(adoption: Adoption): Promise<readonly Place[]> {
    const { keptKeys } = await import('../reload/keep');
    const prefix = keptKeys.background('');
    if (![...adoption.kept.keys()].some((key) => key.startsWith(prefix))) return [];
    const { places, over } = await (await this.load()).takeUp(adoption);
    for (const run of over) this.earlier.set(run.executionId, run);
    this.changed.fire();
    return places;
  }

  /** The window leaves, and its runs go on: what is heard of them from here on is its leaving and not theirs. */
  leave(): void {
    this.here?.leave();
  }

  dispose(): void {
    this.changed.dispose();
  }

  /** Rejects where the owner of a launch has gone meanwhile. */
  private async ready(
    pending: Pending,
    supplied: ExecutionResult | undefined,
  ): Promise<BackgroundRunsHere> {
    assertWanted(pending);
    // What was supplied needs no kernel.
    if (!supplied) await this.parts.ready();
    const here = await this.load();
    assertWanted(pending);
    return here;
  }

  private supplied(
    request: BackgroundSnapshot['request'],
    result: ExecutionResult,
    here: BackgroundRunsHere,
  ): Pick<BackgroundSnapshot, 'executionId' | 'status'> {
    const { executionId } = request;
    const status = result.cancelled ? 'interrupted' : result.exitCode === 0 ? 'done' : 'failed';
    const snapshot: BackgroundSnapshot = {
      executionId,
      status,
      done: true,
      stdout: result.output,
      interrupted: result.cancelled,
      error: status === 'failed' ? result.output : undefined,
      startedAt: request.startedAt,
      endedAt: this.parts.clock.now(),
      request,
    };
    this.earlier.set(executionId, snapshot);
    here.supplied(snapshot, result);
    this.changed.fire();
    return { executionId, status };
  }
}

function assertWanted({ isCalledOff }: Pending): void {
  if (!isCalledOff) return;
  throw new HoldfastError('closed', 'Its owner went before the background run began.');
}
