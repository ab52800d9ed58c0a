import type { Clock } from '../../base/clock';
import { HoldfastError } from '../../base/errors';
import type { ExecutionResult } from '../../pool/types';
import type { RunRequest, Runs } from '../runs';
import { OutputText } from './outputText';

/** Runs of a chat whose output can still be read when they are over. */
const KEPT_PER_CHAT = 20;

export interface AgentRun {
  /** What the chat calls it by. */
  readonly handle: string;
  readonly ownerId: string;
  /** ms since the epoch. */
  readonly askedAt: number;
  readonly output: OutputText;
  readonly state: AgentRunState;
  /** Character of the output up to which it was given. */
  given: number;
}

export type AgentRunState =
  /** Its session is being found or started, or it waits for its turn, with so many runs before it, or for a kernel slot. */
  | { readonly kind: 'waiting'; readonly ahead: number; readonly forSlot: boolean }
  /** `asks`: the prompt of a question that a person has not answered yet. */
  | {
      readonly kind: 'running';
      readonly startedAt: number;
      readonly asks: string | undefined;
    }
  | { readonly kind: 'ended'; readonly result: ExecutionResult; readonly elapsedMs: number }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface AgentRunsParts {
  readonly clock: Clock;
  readonly runs: Pick<Runs, 'perform' | 'get' | 'inSession'>;
  /** The session of a key has no slot yet, and waits for one. */
  waitsForSlot(sessionKey: string): boolean;
  /** Unique over windows and reloads. */
  readonly newHandle: () => string;
}

interface Entry extends AgentRun {
  readonly over: Promise<void>;
  executionId: string | undefined;
  end: Extract<AgentRunState, { kind: 'ended' | 'failed' }> | undefined;
}

/** Runs that chats asked for, by handles: whoever asked may stop waiting, and read on later. */
export class AgentRuns {
  private readonly byOwner = new Map<string, Map<string, Entry>>();

  constructor(private readonly parts: AgentRunsParts) {}

  start(request: RunRequest & Required<Pick<RunRequest, 'by'>>): AgentRun {
    const { clock, runs, newHandle } = this.parts;
    const askedAt = clock.now();
    const output = new OutputText();
    const { ownerId } = request.by;
    const performed = runs.perform(
      { ...request, onOutput: (piece) => output.add(piece) },
      (executionId) => (entry.executionId = executionId),
    );
    const over = performed.then(
      (result) => this.end(entry, { kind: 'ended', result, elapsedMs: clock.now() - askedAt }),
      (error: unknown) => this.end(entry, { kind: 'failed', error }),
    );
    const stateOf = (): AgentRunState => this.stateOf(entry);
    const entry: Entry = {
      handle: newHandle(),
      ownerId,
      askedAt,
      output,
      over,
      given: 0,
      executionId: undefined,
      end: undefined,
      get state() {
        return stateOf();
      },
    };
    this.keep(entry);
    return entry;
  }

  /** Throws `run_not_found`, also for the run of another chat. */
  get(ownerId: string, handle: string): AgentRun {
    const run = this.byOwner.get(ownerId)?.get(handle);
    if (run) return run;
    throw new HoldfastError(
      'run_not_found',
      `This chat has no run "${handle}". Handles come from holdfast_run_code; they end with the window and ` +
        `${KEPT_PER_CHAT} runs later. If its variables are what you need, run code that prints them.`,
    );
  }

  /** Resolves when the run is over, when `waitMs` have passed since the call, or when the signal is aborted. */
  async wait(run: AgentRun, waitMs: number, signal: AbortSignal): Promise<void> {
    const over = this.byOwner.get(run.ownerId)?.get(run.handle)?.over;
    if (!over || waitMs <= 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        timer.dispose();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.parts.clock.after(waitMs, done);
      signal.addEventListener('abort', done);
      void over.then(done);
    });
  }

  /** A chat is gone, and nobody reads on. */
  forget(ownerId: string): void {
    this.byOwner.delete(ownerId);
  }

  private stateOf({ end, executionId }: Entry): AgentRunState {
    if (end) return end;
    const { runs, waitsForSlot } = this.parts;
    const run = executionId === undefined ? undefined : runs.get(executionId);
    if (!run) return { kind: 'waiting', ahead: 0, forSlot: false };
    const { startedAt, asks } = run;
    if (startedAt !== undefined) return { kind: 'running', startedAt, asks };
    const inLine = runs.inSession(run.sessionKey).map((each) => each.executionId);
    const ahead = inLine.indexOf(run.executionId);
    return { kind: 'waiting', ahead, forSlot: waitsForSlot(run.sessionKey) };
  }

  private end(entry: Entry, end: NonNullable<Entry['end']>): void {
    entry.end = end;
    const own = this.byOwner.get(entry.ownerId);
    const ended = [...(own?.values() ?? [])].filter((each) => each.end);
    for (const { handle } of ended.slice(0, -KEPT_PER_CHAT)) own?.delete(handle);
  }

  private keep(entry: Entry): void {
    const own = this.byOwner.get(entry.ownerId) ?? new Map<string, Entry>();
    this.byOwner.set(entry.ownerId, own.set(entry.handle, entry));
  }
}
