import type { Clock } from '../../base/clock';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { PanelUpdate } from '../../webview/protocol';
import type { SessionReader } from './sessionTranscript';
import type { Transcript } from './transcript';

const MIN_INTERVAL_MS = 33;
const MAX_UNACKNOWLEDGED = 2;

export interface FeedOptions {
  readonly transcript: Transcript;
  readonly clock: Clock;
  readonly runKey: string;
  /** Why nothing can be run in a session from its input line; undefined: it can. */
  whyNoInput?(sessionKey: string): string | undefined;
  post(update: PanelUpdate): void;
}

/**
 * Keeps one page up to date: the first change goes out at once, the following ones at most every 33 ms, and none while
 * the page has two updates that it has not put on the screen. What happens meanwhile is not queued: it is read from
 * the transcript when the next update is due, in whatever bounds the transcript keeps. A run of the person brings its
 * session to sight.
 */
export class PanelFeed implements Disposable {
  private readonly store = new DisposableStore();
  private connected = false;
  private reset = false;
  private dirty = false;
  private seq = 0;
  private acknowledged = 0;
  private lastPostAt = -Infinity;
  private timer: Disposable | undefined;
  private reader: SessionReader | undefined;
  private sentSessions = -1;
  private shownKey: string | undefined;
  private disabledReason: string | undefined;

  constructor(private readonly options: FeedOptions) {
    const { transcript } = options;
    this.store.add(
      transcript.onDidChange((change) => {
        if (change.what === 'ownRun') this.show(change.sessionKey);
        if (change.what === 'forgotten') this.leave(change.sessionKey);
        if (this.shownKey === undefined) this.show(transcript.sessions()[0]?.key);
        if (change.sessionKey === undefined || change.sessionKey === this.shownKey) this.mark();
      }),
    );
  }

  get isConnected(): boolean {
    return this.connected;
  }

  /** There is news that has not been posted. */
  get isDirty(): boolean {
    return this.dirty;
  }

  get shown(): string | undefined {
    return this.shownKey;
  }

  /** The page has loaded and knows nothing. */
  connect(): void {
    this.connected = true;
    this.shownKey ??= this.options.transcript.sessions()[0]?.key;
    this.acknowledged = this.seq;
    this.lastPostAt = -Infinity;
    this.startOver();
  }

  /** The page is gone: nothing is read until the next one connects. */
  disconnect(): void {
    this.connected = false;
    this.reader = undefined;
    this.cancelTimer();
  }

  show(sessionKey: string | undefined): void {
    if (sessionKey === undefined || sessionKey === this.shownKey) return;
    this.shownKey = sessionKey;
    this.startOver();
  }

  disableInput(reason: string | undefined): void {
    if (reason === this.disabledReason) return;
    this.disabledReason = reason;
    this.mark();
  }

  acknowledge(seq: number): void {
    if (seq > this.seq) return;
    this.acknowledged = Math.max(this.acknowledged, seq);
    this.schedule();
  }

  dispose(): void {
    this.disconnect();
    this.store.dispose();
  }

  /** The reader of a session that is forgotten would never read of it again. */
  private leave(sessionKey: string | undefined): void {
    if (sessionKey !== this.shownKey) return;
    this.shownKey = this.options.transcript.sessions()[0]?.key;
    this.startOver();
  }

  private startOver(): void {
    this.reader = undefined;
    this.reset = true;
    this.mark();
  }

  private mark(): void {
    this.dirty = true;
    this.schedule();
  }

  private schedule(): void {
    if (!this.connected || !this.dirty || this.timer !== undefined) return;
    if (this.seq - this.acknowledged >= MAX_UNACKNOWLEDGED) return;
    const waitMs = this.lastPostAt + MIN_INTERVAL_MS - this.options.clock.now();
    this.timer = this.options.clock.after(Math.max(0, waitMs), () => {
      this.timer = undefined;
      this.post();
    });
  }

  private post(): void {
    const { transcript, clock, runKey } = this.options;
    this.dirty = false;
    if (this.shownKey !== undefined) this.reader ??= transcript.reader(this.shownKey);
    const reading = this.reader?.read();
    const sessionsChanged = this.reset || this.sentSessions !== transcript.sessionsRevision;
    this.sentSessions = transcript.sessionsRevision;
    this.lastPostAt = clock.now();
    this.seq += 1;
    const update: PanelUpdate = {
      type: 'update',
      seq: this.seq,
      now: clock.now(),
      reset: this.reset,
      shown: this.shownKey ?? null,
      sessions: sessionsChanged ? [...transcript.sessions()] : null,
      entries: reading?.entries ?? [],
      removed: reading?.removed ?? [],
      droppedRuns: reading?.droppedRuns ?? 0,
      ask: this.shownKey === undefined ? null : transcript.openAsk(this.shownKey),
      runKey,
      inputDisabled: this.disabledReason ?? this.whyNoInputHere() ?? null,
    };
    this.reset = false;
    this.options.post(update);
  }

  private whyNoInputHere(): string | undefined {
    return this.shownKey === undefined ? undefined : this.options.whyNoInput?.(this.shownKey);
  }

  private cancelTimer(): void {
    this.timer?.dispose();
    this.timer = undefined;
  }
}
