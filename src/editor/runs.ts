import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposable';
import { messageOf } from '../base/errors';
import { Emitter } from '../base/event';
import type { CodeSource, InputRequest } from '../kernel/execution';
import { asOutput, type KernelOutput } from '../kernel/output';
import { languageOf } from '../kernel/language';
import { deadlineAt } from '../pool/deadline';
import type { AdoptedCaller, ExecutionResult, PoolExecuteOptions, RunOrigin } from '../pool/types';
import { notStarted } from '../runner/notStarted';
import type { RunOptions } from '../runner/runner';
import { passedLimit, unlessLate } from '../runner/timeLimit';
import type { Door } from './door';
import type { Transcript } from './panel/transcript';
import { sessionKeyOf, type SessionName, type SessionTarget } from './sessions/target';

/** Where code comes from, told at the moment a person asked to run it. */
export interface Place {
  /** URI of the document. */
  readonly document: string;
  /** Path of the folder that its own session belongs to. */
  readonly folder: string;
}

export interface RunRequest {
  readonly code: string;
  readonly source?: CodeSource;
  /** Either the place, whose session is resolved, or a session that is already known. */
  readonly to: Place | SessionTarget;
  /** Who asks. Default: the person at this window. */
  readonly by?: RunCaller;
  /** Limit of the run, ms from the call. */
  readonly timeoutMs?: number;
  /** Ends the run as a person's cancel does. */
  readonly signal?: AbortSignal;
  /** Keeps the run out of what agents are told of the session. */
  readonly excludeFromContext?: boolean;
  /** Told besides the transcript. */
  onOutput?(output: KernelOutput): void;
}

/** Whoever runs code besides the person: an agent's chat, another extension. */
interface RunCaller {
  readonly ownerId: string;
  readonly origin: RunOrigin;
  /** For people: shown beside the run. */
  readonly name: string;
}

export interface ActiveRun {
  readonly executionId: string;
  readonly sessionKey: string;
  readonly sessionLabel: string;
  readonly firstLine: string;
  readonly source: CodeSource | undefined;
  readonly ownerId: string;
  /** It runs in a kernel that ends with it, which no session retains. */
  readonly inOwnKernel: boolean;
  /** Milliseconds since the epoch; undefined while it waits. */
  readonly startedAt: number | undefined;
  /** The prompt of a question that it waits for a person to answer. */
  readonly asks?: string | undefined;
}

export interface RunsParts {
  /** This window, as the owner of the sessions that it runs in. */
  readonly ownerId: string;
  readonly clock: Clock;
  readonly transcript: Pick<Transcript, 'begin' | 'started' | 'output' | 'finished' | 'ask'>;
  readonly newId: () => string;
  /** Throws where nothing may run. Asked before anything else. */
  assertAllowed(): void;
  /** Where the code goes in. */
  readonly door: Pick<Door, 'entry'>;
  /** Rejects where there is no interpreter. */
  resolve(place: Place): Promise<SessionTarget>;
  mode(): Promise<NonNullable<PoolExecuteOptions['mode']>>;
  /** A run was handed to its session. */
  onBegin(sessionKey: string): void;
  /** Tells the person, once for many. */
  onFailure(error: unknown): void;
}

/** A run of the window before this one. */
interface EarlierRun {
  readonly executionId: string;
  readonly session: SessionName & { readonly label: string };
  readonly code: string;
  readonly source: CodeSource | undefined;
  readonly queuedAt: number;
  /** Undefined: it waits. */
  readonly startedAt: number | undefined;
  /** A person asked for it. */
  readonly isOwn: boolean;
  /** The transcript has its beginning. */
  readonly isShown: boolean;
}

/** A request at the moment it was made. */
interface Asked {
  readonly request: RunRequest;
  readonly queuedAt: number;
  /** ms since the epoch. */
  readonly deadlineMs: number | undefined;
  readonly door: ReturnType<Door['entry']>;
}

interface Entry extends ActiveRun {
  readonly controller: AbortController;
}

const FIRST_LINE_LENGTH = 200;

/** The one place where the editor runs code. Runs are handed on in the order in which they were asked for, each once. */
export class Runs implements Disposable {
  private readonly active = new Map<string, Entry>();
  private readonly changed = new Emitter<void>();
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly parts: RunsParts) {}

  /** A run began, started or ended. */
  readonly onDidChange = this.changed.event;

  /** Resolves when the run is over. Failures are told to the person, so it does not reject. */
  async run(request: RunRequest): Promise<void> {
    try {
      await this.perform(request);
    } catch (error) {
      this.parts.onFailure(error);
    }
  }

  /** The same for a caller that takes the result, and the failures. `onBegun` is told the run's id when its session is known. */
  async perform(
    request: RunRequest,
    onBegun?: (executionId: string) => void,
  ): Promise<ExecutionResult> {
    const { clock, door, ownerId } = this.parts;
    const queuedAt = clock.now();
    const asked: Asked = {
      ...{ request, queuedAt },
      deadlineMs: deadlineAt(request, queuedAt),
      door: door.entry(request.by?.ownerId ?? ownerId),
    };
    // What has to be awaited before the door takes the code is awaited one run after the other.
    const handedOver = this.turn.then(() => this.handOver(asked, onBegun));
    this.turn = handedOver.then(nothing, nothing);
    const there = await unlessLate(handedOver, asked.deadlineMs, clock);
    if (there) return there.over;
    // It is handed on all the same, for the transcript to say that it was too late.
    handedOver.then(({ over }) => over).catch(nothing);
    return notStarted(passedLimit(), clock.now() - queuedAt);
  }

  /** Stands in for whoever asked for a run in the window before this one. */
  takeUp(run: EarlierRun): AdoptedCaller {
    const { executionId, session, code, source, queuedAt, startedAt } = run;
    const sessionKey = sessionKeyOf(session);
    const controller = new AbortController();
    if (!run.isShown) {
      this.parts.transcript.begin({
        executionId,
        sessionKey,
        sessionLabel: session.label,
        code,
        language: languageOf(session.sessionId) ?? 'python',
        owner: null,
        queuedAt,
        ...(source && { source }),
      });
    }
    if (run.isOwn) {
      this.active.set(executionId, {
        executionId,
        sessionKey,
        sessionLabel: session.label,
        firstLine: firstLineOf(code),
        source,
        ownerId: this.parts.ownerId,
        // A kernel of its own does not outlive its window.
        inOwnKernel: false,
        startedAt,
        controller,
      });
      this.changed.fire();
    }
    const { onStart, ...caller } = this.caller(executionId, controller);
    // The start of what was sent is known already, and earlier.
    return startedAt === undefined && onStart ? { ...caller, onStart } : caller;
  }

  /** The end of a run that was taken up. */
  follow(executionId: string, result: Promise<ExecutionResult>): void {
    result.then(
      (end) => this.end(executionId, { result: end }),
      (error: unknown) => {
        this.end(executionId, { failure: messageOf(error) });
        this.parts.onFailure(error);
      },
    );
  }

  /** Runs of a session that are not over, oldest first. */
  inSession(sessionKey: string): readonly ActiveRun[] {
    return [...this.active.values()].filter((run) => run.sessionKey === sessionKey);
  }

  /** Runs in kernels of their own, oldest first. */
  inOwnKernels(): readonly ActiveRun[] {
    return [...this.active.values()].filter((run) => run.inOwnKernel);
  }

  get(executionId: string): ActiveRun | undefined {
    return this.active.get(executionId);
  }

  /** Keys of the sessions that have runs which are not over. */
  sessionKeys(): readonly string[] {
    return [...new Set([...this.active.values()].map((run) => run.sessionKey))];
  }

  /** Cancels one run: interrupts it where it runs, takes it out of the queue where it waits. */
  cancel(executionId: string): void {
    this.active.get(executionId)?.controller.abort();
  }

  cancelAll(): void {
    for (const { controller } of this.active.values()) controller.abort();
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async handOver(
    asked: Asked,
    onBegun: ((executionId: string) => void) | undefined,
  ): Promise<{ over: Promise<ExecutionResult> }> {
    this.parts.assertAllowed();
    const { to } = asked.request;
    const [target, mode] = await Promise.all([
      'sessionId' in to ? to : this.parts.resolve(to),
      this.parts.mode(),
    ]);
    const entry = this.begin(target, mode, asked);
    onBegun?.(entry.executionId);
    return { over: this.execute(entry, target, mode, asked) };
  }

  private async execute(
    entry: Entry,
    target: SessionTarget,
    mode: NonNullable<PoolExecuteOptions['mode']>,
    asked: Asked,
  ): Promise<ExecutionResult> {
    const { executionId } = entry;
    try {
      const options = this.options(target, mode, asked, entry);
      const result = await asked.door.run(asked.request.code, options);
      this.end(executionId, { result });
      return result;
    } catch (error) {
      this.end(executionId, { failure: messageOf(error) });
      throw error;
    }
  }

  private begin(
    target: SessionTarget,
    mode: NonNullable<PoolExecuteOptions['mode']>,
    { request, queuedAt }: Asked,
  ): Entry {
    const executionId = this.parts.newId();
    const sessionKey = sessionKeyOf(target);
    const entry: Entry = {
      executionId,
      sessionKey,
      sessionLabel: target.label,
      firstLine: firstLineOf(request.code),
      source: request.source,
      ownerId: request.by?.ownerId ?? this.parts.ownerId,
      inOwnKernel: mode === 'per-call',
      startedAt: undefined,
      controller: new AbortController(),
    };
    this.active.set(executionId, entry);
    this.parts.transcript.begin({
      executionId,
      sessionKey,
      sessionLabel: target.label,
      code: request.code,
      language: target.language,
      owner: request.by?.name ?? null,
      queuedAt,
      ...(request.source && { source: request.source }),
    });
    if (!request.by) this.parts.onBegin(sessionKey);
    this.changed.fire();
    return entry;
  }

  private options(
    target: SessionTarget,
    mode: NonNullable<PoolExecuteOptions['mode']>,
    { request, deadlineMs }: Asked,
    { executionId, sessionKey, controller }: Entry,
  ): RunOptions {
    const { cwd, sessionId, language, interpreter } = target;
    const { source, by, signal, excludeFromContext, onOutput } = request;
    const caller = this.caller(executionId, controller);
    return {
      cwd,
      sessionId,
      language,
      mode,
      origin: by?.origin ?? 'person',
      executionId,
      inOrderOf: sessionKey,
      ...(interpreter !== undefined && { interpreter }),
      ...(source && { source }),
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...(excludeFromContext !== undefined && { excludeFromContext }),
      ...caller,
      ...(signal && { signal: AbortSignal.any([signal, controller.signal]) }),
      ...(onOutput && {
        onOutput: (output) => {
          caller.onOutput?.(output);
          onOutput(asOutput(output));
        },
      }),
    };
  }

  private caller(executionId: string, controller: AbortController): AdoptedCaller {
    const { transcript } = this.parts;
    return {
      signal: controller.signal,
      onStart: () => this.started(executionId, this.parts.clock.now()),
      onOutput: (output) => transcript.output(executionId, asOutput(output)),
      onInput: (question) => this.ask(executionId, question),
    };
  }

  private async ask(executionId: string, question: InputRequest): Promise<string | null> {
    this.change(executionId, { asks: question.prompt });
    try {
      return await this.parts.transcript.ask(executionId, question);
    } finally {
      this.change(executionId, { asks: undefined });
    }
  }

  private started(executionId: string, startedAt: number): void {
    this.parts.transcript.started(executionId, startedAt);
    this.change(executionId, { startedAt });
  }

  private change(
    executionId: string,
    facts: Pick<ActiveRun, 'asks'> | { startedAt: number },
  ): void {
    const entry = this.active.get(executionId);
    if (entry) this.active.set(executionId, { ...entry, ...facts });
    this.changed.fire();
  }

  private end(executionId: string, how: { result: ExecutionResult } | { failure: string }): void {
    this.active.delete(executionId);
    this.parts.transcript.finished(executionId, { at: this.parts.clock.now(), ...how });
    this.changed.fire();
  }
}

/** What people know a piece of code by. */
export function firstLineOf(code: string): string {
  const line = code.split('\n').find((text) => text.trim() !== '') ?? '';
  return line.trim().slice(0, FIRST_LINE_LENGTH);
}

function nothing(): void {}
