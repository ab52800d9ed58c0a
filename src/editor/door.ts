import type { Disposable } from '../base/disposable';
import type { Log } from '../base/log';
import type { ExecutionResult } from '../pool/types';
import type { OwnerDisposer } from '../runner/disposers';
import type { BeforeRunHook } from '../runner/hooks';
import type { RunRecordEntry } from '../runner/records';
import {
  createEvalRunner,
  type EvalRunner,
  type ExecuteOptions,
  type WorkOptions,
} from '../runner/runner';

interface DoorParts {
  execute(code: string, options: ExecuteOptions): Promise<ExecutionResult>;
  /** Each lets go of what an owner holds in one place. */
  readonly disposers: readonly OwnerDisposer[];
  /** The chat that stands behind an owner is streaming: its records wait for `flush`. */
  isStreaming(ownerId: string): boolean;
  /** Keeps one record. */
  record(entry: RunRecordEntry): void;
  readonly log: Log;
}

/** Where all code goes in, whoever asked: each owner has its own runner, and all of them the same hooks. */
export class Door {
  private readonly runners = new Map<string, EvalRunner>();
  private readonly hooks: BeforeRunHook[] = [];

  constructor(private readonly parts: DoorParts) {}

  /**
   * The door as an owner finds it now; the first time makes its runner. What goes in later, when the owner was let go of meanwhile, is refused with `closed`.
   */
  entry(ownerId: string): Pick<EvalRunner, 'run'> {
    return this.runnerOf(ownerId);
  }

  /** As `EvalRunner.admit`. */
  admit(ownerId: string, code: string, options: WorkOptions): Promise<ExecutionResult | undefined> {
    return this.runnerOf(ownerId).admit(code, options);
  }

  /** As `EvalRunner.record`. */
  record(
    ownerId: string,
    code: string,
    options: WorkOptions,
    result: ExecutionResult,
    startedAt: number,
  ): void {
    this.runnerOf(ownerId).record(code, options, result, startedAt);
  }

  /** Asks a hook before each run from here on, behind those that are there. Disposing takes it away. */
  addHook(hook: BeforeRunHook): Disposable {
    const own: BeforeRunHook = (run) => hook(run);
    this.hooks.push(own);
    return {
      dispose: () => {
        const at = this.hooks.indexOf(own);
        if (at >= 0) this.hooks.splice(at, 1);
      },
    };
  }

  /**
   * An owner is gone for good: its runs are refused from here on, waited for, aborted, and then all that it holds is let
   * go of, as `EvalRunner.dispose` does. The same id may come back, and begins anew.
   */
  async close(ownerId: string): Promise<void> {
    const runner = this.runnerOf(ownerId);
    try {
      await runner.dispose();
    } finally {
      if (this.runners.get(ownerId) === runner) this.runners.delete(ownerId);
    }
  }

  /** Writes the records that wait for an owner's chat, or for everybody's. */
  flush(ownerId?: string): void {
    const runners =
      ownerId === undefined ? [...this.runners.values()] : [this.runners.get(ownerId)];
    for (const runner of runners) {
      try {
        runner?.flush();
      } catch (error) {
        this.parts.log.error('Runs could not be recorded; their records wait.', error);
      }
    }
  }

  private runnerOf(ownerId: string): EvalRunner {
    const known = this.runners.get(ownerId);
    if (known) return known;
    const { execute, disposers, isStreaming, record, log } = this.parts;
    const made = createEvalRunner({
      ownerId,
      execute,
      disposers,
      hooks: this.hooks,
      isStreaming: () => isStreaming(ownerId),
      record,
      log,
    });
    this.runners.set(ownerId, made);
    return made;
  }
}
