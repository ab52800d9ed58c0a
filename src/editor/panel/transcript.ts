import type { Disposable } from '../../base/disposable';
import { Emitter, type Event } from '../../base/event';
import type { CodeSource, InputRequest } from '../../kernel/execution';
import type { Language } from '../../kernel/language';
import type { KernelOutput } from '../../kernel/output';
import type { ExecutionResult } from '../../pool/types';
import type { Ask, Piece, RunHead, RunState, SessionHead } from '../../webview/protocol';
import { defaultLimits, type TranscriptLimits } from './limits';
import { shownParts } from './mime';
import type { OutlineChange, OutlineEntry } from './outline';
import type { OutputLog } from './outputLog';
import { Questions } from './questions';
import { SessionTranscript, type EarlierRun, type SessionReader } from './sessionTranscript';

/** A run at the moment it was asked for. Times are milliseconds since the epoch. */
export interface TranscriptRun {
  readonly executionId: string;
  /** Stable name of the session, given by the caller: the pool may not know the session yet. */
  readonly sessionKey: string;
  readonly sessionLabel: string;
  readonly code: string;
  readonly language: Language;
  readonly source?: CodeSource;
  /** The name of who asked for it. Null: the person at this window. */
  readonly owner: string | null;
  readonly queuedAt: number;
}

interface RunEnd {
  readonly at: number;
  readonly result?: Pick<ExecutionResult, 'cancelled' | 'exitCode' | 'artifact' | 'notes'>;
  /** It was rejected: the message. */
  readonly failure?: string;
}

interface TranscriptChange {
  /** Undefined: the list of sessions. */
  readonly sessionKey: string | undefined;
  /**
   * `ownRun`: the person at this window asked for a run. `forgotten`: what the session showed is no longer held here.
   * `earlier`: what it shows begins otherwise than before.
   */
  readonly what: 'ownRun' | 'run' | 'ask' | 'forgotten' | 'earlier' | 'other';
}

/** A session that something is kept of on disk. */
interface KeptHead {
  readonly key: string;
  readonly label: string;
  /** When it was last written, ms since the epoch. */
  readonly until: number;
}

/** What is shown of one run now. */
export interface ShownRun {
  readonly executionId: string;
  readonly sessionKey: string;
  readonly sessionLabel: string;
  readonly head: RunHead;
  readonly pieces: readonly Piece[];
  /** What the session put out after it that belongs to no run. */
  readonly after: readonly Piece[];
}

interface TranscriptOptions {
  readonly limits?: Partial<TranscriptLimits>;
}

/** What the panel shows, kept in bounds whether anybody looks or not. */
export interface Transcript {
  begin(run: TranscriptRun): void;
  started(executionId: string, at: number): void;
  /** Also after the end. */
  output(executionId: string, output: KernelOutput): void;
  /** Output that belongs to no run. */
  sessionOutput(sessionKey: string, output: KernelOutput): void;
  finished(executionId: string, end: RunEnd): void;
  /** Asks the person in the panel. Null on end of file, and when the request's signal aborts. */
  ask(executionId: string, request: InputRequest): Promise<string | null>;
  /** Answers a question by its id; an id that is no longer open is ignored. */
  answer(askId: number, text: string | null): void;
  note(sessionKey: string, text: string): void;
  /** Shows again what a window before this one has shown, if it is not here yet. A run's output is told by `output`. */
  restore(entry: OutlineEntry): void;
  /** Undefined: it is not, or no longer. */
  shownRun(executionId: string): ShownRun | undefined;
  /** The sessions that something is kept of. Those that are not here are listed too, with the state `earlier`. */
  setKept(sessions: readonly KeptHead[]): void;
  /** `addEarlier` was called for the session since it is here. */
  hasEarlier(sessionKey: string): boolean;
  /** What was kept of a session, oldest first: shown before what it shows by itself, each run once. */
  addEarlier(sessionKey: string, runs: readonly EarlierRun[]): void;
  /** All of it, in every session. */
  forgetEarlier(): void;
  /** Forgets what is over. A run that goes on stays, without its output so far. */
  clear(sessionKey: string): void;
  /** The sessions that live. Those that are gone stay readable for a while, with the state `gone`. */
  sessionChanged(sessions: readonly SessionHead[]): void;

  sessions(): readonly SessionHead[];
  /** Bumped when `sessions()` answers something else. */
  readonly sessionsRevision: number;
  /** Runs and notes of all sessions, besides what was kept of earlier ones. */
  outline(): readonly OutlineEntry[];
  openAsk(sessionKey: string): Ask | null;
  /** Questions that wait for an answer, over all sessions. */
  readonly openAsks: number;
  reader(sessionKey: string): SessionReader;
  /** Fires on each change, synchronously; a listener marks and comes back later to read. */
  readonly onDidChange: Event<TranscriptChange>;
  /** The same for the id of a run that is over and, with what came after it, shows something else than before. */
  readonly onDidChangeLate: Event<string>;
  /** The same for each entry of the outline that comes, changes or goes. */
  readonly onDidChangeOutline: Event<OutlineChange>;
}

// Late output of runs that were dropped still finds its session, for the last so many of them.
const REMEMBERED_DROPS = 1_000;

export function createTranscript(options: TranscriptOptions = {}): Transcript & Disposable {
  return new TranscriptStore(options);
}

class TranscriptStore implements Transcript, Disposable {
  sessionsRevision = 0;
  private live: readonly SessionHead[] = [];
  private kept: readonly KeptHead[] = [];
  /** The session that ran least recently comes first. */
  private readonly bySession = new Map<string, SessionTranscript>();
  private readonly sessionOf = new Map<string, string>();
  private readonly dropped = new Map<string, string>();
  private readonly questions = new Questions();
  private readonly emitter = new Emitter<TranscriptChange>();
  private readonly late = new Emitter<string>();
  private readonly outlined = new Emitter<OutlineChange>();
  private readonly limits: TranscriptLimits;
  private lastPlace = 0;

  readonly onDidChange = this.emitter.event;
  readonly onDidChangeLate = this.late.event;
  readonly onDidChangeOutline = this.outlined.event;

  constructor(options: TranscriptOptions) {
    this.limits = { ...defaultLimits, ...options.limits };
  }

  get openAsks(): number {
    return this.questions.size;
  }

  begin(run: TranscriptRun): void {
    this.beginAt(this.nextPlace(), run, {
      code: run.code,
      language: run.language,
      source: run.source === undefined ? null : { file: run.source.file, line: run.source.line },
      owner: run.owner,
      state: 'queued',
      queuedAt: run.queuedAt,
      startedAt: null,
      endedAt: null,
      remark: null,
      artifact: null,
    });
  }

  started(executionId: string, at: number): void {
    this.change(executionId, (session) => {
      session.change(executionId, { state: 'running', startedAt: at });
    });
  }

  output(executionId: string, output: KernelOutput): void {
    const key = this.sessionOf.get(executionId);
    const goneFrom = this.dropped.get(executionId);
    if (goneFrom !== undefined) this.sessionOutput(goneFrom, output);
    if (key === undefined) return;
    const session = this.session(key);
    if (output.type === 'updateDisplay') updateDisplay(session, output);
    else session.write(executionId, (log) => write(log, output));
    this.changed(key);
  }

  sessionOutput(sessionKey: string, output: KernelOutput): void {
    const session = this.session(sessionKey);
    if (output.type === 'updateDisplay') updateDisplay(session, output);
    else session.writeLoose((log) => write(log, output));
    this.changed(sessionKey);
  }

  finished(executionId: string, end: RunEnd): void {
    this.change(executionId, (session) => {
      session.change(executionId, {
        state: stateOf(end),
        endedAt: end.at,
        remark: end.failure ?? end.result?.notes?.join('\n') ?? null,
        artifact: end.result?.artifact ?? null,
      });
    });
  }

  ask(executionId: string, request: InputRequest): Promise<string | null> {
    const key = this.sessionOf.get(executionId);
    const session = key === undefined ? undefined : this.bySession.get(key);
    const entry = session?.entryIdOf(executionId);
    if (key === undefined || session === undefined || entry === undefined)
      return Promise.resolve(null);
    const { prompt, password } = request;
    const answered = this.questions.ask({ sessionKey: key, entry, request }, (text) => {
      if (text !== null) {
        session.write(executionId, (log) => {
          log.item(() => ({ kind: 'answer', prompt, text: password ? null : text }));
        });
      }
      this.changed(key);
    });
    this.emitter.fire({ sessionKey: key, what: 'ask' });
    return answered;
  }

  answer(askId: number, text: string | null): void {
    this.questions.answer(askId, text);
  }

  note(sessionKey: string, text: string): void {
    this.session(sessionKey).note(text, Date.now(), this.nextPlace());
    this.changed(sessionKey);
  }

  restore(entry: OutlineEntry): void {
    const { place, sessionKey, sessionLabel } = entry;
    if (entry.kind === 'run') {
      if (!this.sessionOf.has(entry.executionId)) this.beginAt(place, entry, entry.head);
      return;
    }
    this.session(sessionKey, sessionLabel).note(entry.text, entry.at, place);
    this.changed(sessionKey);
  }

  shownRun(executionId: string): ShownRun | undefined {
    const sessionKey = this.sessionOf.get(executionId);
    const session = sessionKey === undefined ? undefined : this.bySession.get(sessionKey);
    const shown = session?.shownRun(executionId);
    if (sessionKey === undefined || session === undefined || shown === undefined) return undefined;
    return { executionId, sessionKey, sessionLabel: session.label, ...shown };
  }

  setKept(sessions: readonly KeptHead[]): void {
    this.kept = sessions.map(({ key, label, until }) => ({ key, label, until }));
    this.sessionsChanged();
  }

  hasEarlier(sessionKey: string): boolean {
    return this.bySession.get(sessionKey)?.hasEarlier ?? false;
  }

  addEarlier(sessionKey: string, runs: readonly EarlierRun[]): void {
    this.session(sessionKey).addEarlier(runs);
    if (runs.length === 0) return;
    this.sessionsChanged();
    this.emitter.fire({ sessionKey, what: 'earlier' });
  }

  forgetEarlier(): void {
    for (const [sessionKey, session] of this.bySession) {
      if (session.forgetEarlier()) this.emitter.fire({ sessionKey, what: 'earlier' });
    }
    this.sessionsChanged();
  }

  clear(sessionKey: string): void {
    const session = this.bySession.get(sessionKey);
    if (session === undefined) return;
    this.remember(session.clear(), sessionKey);
    this.changed(sessionKey);
  }

  sessionChanged(sessions: readonly SessionHead[]): void {
    this.live = sessions.map(({ key, label, description, state }) => {
      return { key, label, description, state };
    });
    for (const { key, label } of sessions) {
      const known = this.bySession.get(key);
      if (known === undefined) continue;
      known.label = label;
      known.hasLived = true;
    }
    const forgotten = this.forgetGoneSessions();
    this.sessionsChanged();
    for (const key of forgotten) this.emitter.fire({ sessionKey: key, what: 'forgotten' });
  }

  sessions(): readonly SessionHead[] {
    const living = new Set(this.live.map((session) => session.key));
    // Those that show nothing by themselves stand where the kept ones stand.
    const isKept = new Set(this.kept.map(({ key }) => key));
    const others = [...this.bySession].filter(
      ([key, session]) =>
        !living.has(key) && !session.isEmpty && !(session.isEarlier && isKept.has(key)),
    );
    const rest = others.map(([key, session]) => {
      const state = stateOfOther(session);
      return { key, label: session.label, description: '', state };
    });
    const listed = new Set([...living, ...rest.map(({ key }) => key)]);
    const earlier = this.kept
      .filter(({ key }) => !listed.has(key))
      .map((session) => ({ ...session, description: '', state: 'earlier' }));
    return [...this.live, ...rest, ...earlier];
  }

  outline(): readonly OutlineEntry[] {
    return [...this.bySession].flatMap(([sessionKey, session]) =>
      session.outline().map((entry) => ({ ...entry, sessionKey, sessionLabel: session.label })),
    );
  }

  openAsk(sessionKey: string): Ask | null {
    return this.questions.first(sessionKey);
  }

  reader(sessionKey: string): SessionReader {
    return this.session(sessionKey).reader();
  }

  dispose(): void {
    this.questions.endAll();
    this.emitter.dispose();
    this.late.dispose();
    this.outlined.dispose();
  }

  private beginAt(
    place: number,
    run: Pick<TranscriptRun, 'executionId' | 'sessionKey' | 'sessionLabel'>,
    head: RunHead,
  ): void {
    const { executionId, sessionKey, sessionLabel } = run;
    const session = this.session(sessionKey, sessionLabel);
    this.bySession.delete(sessionKey);
    this.bySession.set(sessionKey, session);
    this.sessionOf.set(executionId, sessionKey);
    this.remember(session.begin(executionId, head, place), sessionKey);
    this.emitter.fire({ sessionKey, what: head.owner === null ? 'ownRun' : 'run' });
  }

  /** After all places of windows before this one. */
  private nextPlace(): number {
    return (this.lastPlace = Math.max(this.lastPlace + 1, Date.now()));
  }

  private session(key: string, label?: string): SessionTranscript {
    let session = this.bySession.get(key);
    if (session === undefined) {
      const created = new SessionTranscript(
        this.limits,
        (executionId) => this.late.fire(executionId),
        ({ place, entry }) =>
          this.outlined.fire({
            place,
            entry: entry && { ...entry, sessionKey: key, sessionLabel: created.label },
          }),
      );
      session = created;
      session.label = label ?? this.kept.find((kept) => kept.key === key)?.label ?? key;
      session.hasLived = this.live.some((each) => each.key === key);
      this.bySession.set(key, session);
      this.sessionsChanged();
    }
    if (label !== undefined && label !== session.label) {
      session.label = label;
      this.sessionsChanged();
    }
    return session;
  }

  private change(executionId: string, change: (session: SessionTranscript) => void): void {
    const key = this.sessionOf.get(executionId);
    if (key === undefined) return;
    change(this.session(key));
    this.changed(key);
  }

  private changed(sessionKey: string): void {
    this.emitter.fire({ sessionKey, what: 'other' });
  }

  private sessionsChanged(): void {
    this.sessionsRevision += 1;
    this.emitter.fire({ sessionKey: undefined, what: 'other' });
  }

  private remember(executionIds: readonly string[], sessionKey: string): void {
    for (const id of executionIds) {
      this.sessionOf.delete(id);
      this.dropped.set(id, sessionKey);
    }
    for (const id of this.dropped.keys()) {
      if (this.dropped.size <= REMEMBERED_DROPS) break;
      this.dropped.delete(id);
    }
  }

  /** A session with an open run is not gone, listed or not: the pool may not know it yet. */
  private forgetGoneSessions(): readonly string[] {
    const living = new Set(this.live.map((session) => session.key));
    const gone = [...this.bySession]
      .filter(([key, session]) => !living.has(key) && !session.hasOpenRun)
      .map(([key]) => key);
    const forgotten = gone.slice(0, Math.max(0, gone.length - this.limits.goneSessions));
    for (const key of forgotten) {
      this.bySession.get(key)?.discard();
      this.bySession.delete(key);
      for (const [id, session] of this.sessionOf) if (session === key) this.sessionOf.delete(id);
      for (const [id, session] of this.dropped) if (session === key) this.dropped.delete(id);
    }
    return forgotten;
  }
}

/** Only a run that is still to come brings a session; what is shown of runs that are over may be of one long gone. */
function stateOfOther({ hasLived, isEarlier, hasOpenRun }: SessionTranscript): string {
  if (!hasLived && isEarlier) return 'earlier';
  return !hasLived && hasOpenRun ? 'starting' : 'gone';
}

function stateOf(end: RunEnd): RunState {
  if (end.failure !== undefined || end.result === undefined) return 'failed';
  if (end.result.cancelled) return 'cancelled';
  return end.result.exitCode === 0 ? 'ok' : 'error';
}

function updateDisplay(
  session: SessionTranscript,
  output: Extract<KernelOutput, { type: 'updateDisplay' }>,
): void {
  session.updateDisplay(output.displayId, shownParts(output.data), { ...output.metadata });
}

function write(log: OutputLog, output: Exclude<KernelOutput, { type: 'updateDisplay' }>): void {
  switch (output.type) {
    case 'stream':
      return log.text(output.name, output.text);
    case 'gap':
      return log.gap(output.lines, output.bytes);
    case 'clear':
      return log.clear(output.wait);
    case 'error': {
      const { name, value, traceback } = output;
      return log.item(() => ({ kind: 'error', name, value, traceback }));
    }
    case 'display':
    case 'result': {
      const data = shownParts(output.data);
      const metadata = { ...output.metadata };
      const result = output.type === 'result';
      const displayId = output.type === 'display' ? output.displayId : undefined;
      return log.item((id) => ({ kind: 'display', id, result, data, metadata }), displayId);
    }
  }
}
