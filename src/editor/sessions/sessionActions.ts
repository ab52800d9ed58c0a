import type { ShutdownOutcome } from '../../kernel/kernel';
import type { KernelPool, SessionSnapshot } from '../../pool/types';
import type { Transcript } from '../panel/transcript';
import type { Prompts } from '../prompts';
import type { Runs } from '../runs';
import { othersOf, type NameOf } from './owners';
import {
  forgetQuestion,
  ownersInWords,
  releaseQuestion,
  whomItHits,
  type Asked,
} from './questions';
import type { SessionBook } from './sessionBook';
import type { SessionsModel } from './sessionsModel';
import { sessionKeyOf } from './target';

interface SessionActionsParts {
  readonly ownerId: string;
  readonly model: SessionsModel;
  readonly book: SessionBook;
  readonly runs: Pick<Runs, 'get' | 'inSession' | 'cancel' | 'cancelAll'>;
  readonly transcript: Pick<Transcript, 'note'>;
  readonly prompts: Prompts;
  readonly nameOf?: NameOf;
  /** Ends this window's background runs. */
  stopBackground(): Promise<void>;
  pool(): Promise<KernelPool>;
}

/** What a person does to a session. Asks first where it hits others too; rejections are the caller's to tell. */
export class SessionActions {
  constructor(private readonly parts: SessionActionsParts) {}

  /** Interrupts what runs in the session of a key; a run that only waits is cancelled. */
  async interrupt(key: string): Promise<void> {
    const session = this.parts.model.withKey(key);
    if (session?.state.kind === 'busy')
      return this.interruptRun(session, session.state.execution.id);
    // It starts, or it runs in a kernel of its own, which the pool does not list.
    const [first] = this.parts.runs.inSession(key);
    if (first) this.parts.runs.cancel(first.executionId);
  }

  async interruptRun(session: SessionSnapshot, executionId: string): Promise<void> {
    const pool = await this.parts.pool();
    const verdict = await pool.interrupt(session.id, executionId);
    if (verdict.delivered || !this.isRunning(session, executionId)) return;
    const kill = 'Kill';
    const chosen = await this.parts.prompts.warn(
      sentences(`The interrupt did not reach ${verdict.target}.`, verdict.reason),
      kill,
    );
    // The answer may come when the run is long over: the next one must not be hit.
    if (chosen === kill && this.isRunning(session, executionId)) await this.kill(session);
  }

  /** Cancels this window's runs that wait for a session of a key. */
  cancelWaiting(key: string): void {
    for (const run of this.parts.runs.inSession(key))
      if (run.startedAt === undefined) this.parts.runs.cancel(run.executionId);
  }

  async restart(session: SessionSnapshot): Promise<void> {
    if (!(await this.mayDisturb(session, 'Restart'))) return;
    const pool = await this.parts.pool();
    await pool.restart(session.id);
    this.note(session, 'Kernel restarted: its variables are gone.');
  }

  /** Step by step, as when its last owner goes. */
  async stop(session: SessionSnapshot): Promise<void> {
    if (!(await this.mayDisturb(session, 'Stop'))) return;
    const pool = await this.parts.pool();
    this.report(session, await pool.stop(session.id), 'Session stopped: its end is confirmed.');
  }

  async kill(session: SessionSnapshot): Promise<void> {
    if (!(await this.mayDisturb(session, 'Kill'))) return;
    const pool = await this.parts.pool();
    this.report(session, await pool.kill(session.id), 'Kernel killed: its end is confirmed.');
  }

  async retryNow(session: SessionSnapshot): Promise<void> {
    const pool = await this.parts.pool();
    const outcome = await pool.retryNow(session.id);
    this.report(session, outcome, 'The kernel has stopped: its end is confirmed.');
  }

  async forget(session: SessionSnapshot): Promise<void> {
    const label = this.label(session);
    if (!(await this.confirmed(forgetQuestion({ session, label }), 'Forget'))) return;
    const pool = await this.parts.pool();
    await pool.forget(session.id);
    this.note(session, 'Kernel forgotten: its process may go on running.');
  }

  /** Lets go of a session for one of its owners. */
  async release(clicked: SessionSnapshot, ownerId: string): Promise<void> {
    const session = this.current(clicked);
    const owner = session.owners.find(({ id }) => id === ownerId);
    if (!owner) return;
    const question = releaseQuestion(this.asked(session), owner);
    if (question !== undefined && !(await this.confirmed(question, 'Release'))) return;
    const pool = await this.parts.pool();
    await pool.releaseOwner(session.id, ownerId);
  }

  async stopAll(): Promise<void> {
    const { model, ownerId } = this.parts;
    const shared = model.sessions().filter((session) => othersOf(session, ownerId).length > 0);
    if (shared.length > 0) {
      const names = shared.map((session) => `${this.label(session)} (${this.others(session)})`);
      const question = `Others hold these sessions too: ${names.join(', ')}.`;
      if (!(await this.confirmed(question, 'Stop All'))) return;
    }
    // Those that wait would start new kernels, and those in kernels of their own are known to nobody else.
    this.parts.runs.cancelAll();
    const pool = await this.parts.pool();
    await Promise.all([pool.disposeAll(), this.parts.stopBackground()]);
  }

  private report(session: SessionSnapshot, outcome: ShutdownOutcome, done: string): void {
    if (outcome.confirmed) {
      this.note(session, sentences(done, outcome.reason));
      return;
    }
    const label = this.label(session);
    void this.parts.prompts.warn(
      sentences(
        `It is not confirmed that the kernel of ${label} has ended.`,
        outcome.reason,
        'The Sessions view shows what becomes of it.',
      ),
    );
  }

  private note(session: SessionSnapshot, text: string): void {
    this.parts.transcript.note(sessionKeyOf(session), text);
  }

  /** Asks again where somebody has joined while the question stood. */
  private async mayDisturb(clicked: SessionSnapshot, action: string): Promise<boolean> {
    const named = new Set<string>();
    for (;;) {
      const session = this.current(clicked);
      const others = othersOf(session, this.parts.ownerId);
      const question = whomItHits(this.asked(session));
      if (question === undefined || others.every(({ id }) => named.has(id))) return true;
      if (!(await this.confirmed(question, action))) return false;
      for (const { id } of others) named.add(id);
    }
  }

  /** The session as it is now: what was clicked on may have changed since. */
  private current(clicked: SessionSnapshot): SessionSnapshot {
    return this.parts.model.withId(clicked.id) ?? clicked;
  }

  private isRunning(session: SessionSnapshot, executionId: string): boolean {
    const { state } = this.current(session);
    return state.kind === 'busy' && state.execution.id === executionId;
  }

  private asked(session: SessionSnapshot): Asked {
    const { state } = session;
    const execution = state.kind === 'busy' ? state.execution.id : undefined;
    return {
      session,
      label: this.label(session),
      ownerId: this.parts.ownerId,
      nameOf: this.parts.nameOf,
      firstLine: execution === undefined ? undefined : this.parts.runs.get(execution)?.firstLine,
    };
  }

  private others(session: SessionSnapshot): string {
    const { ownerId } = this.parts;
    return ownersInWords(othersOf(session, ownerId), ownerId, this.parts.nameOf);
  }

  private label(session: SessionSnapshot): string {
    return this.parts.book.labelOf(session);
  }

  private async confirmed(question: string, action: string): Promise<boolean> {
    return (await this.parts.prompts.warn(question, action, 'Cancel')) === action;
  }
}

function sentences(...parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(' ');
}
