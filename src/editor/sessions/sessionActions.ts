import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { KernelPool, SessionSnapshot } from '../../pool/types';
import type { Transcript } from '../panel/transcript';
import type { Runs } from '../runs';
import type { SessionBook } from './sessionBook';
import type { SessionsModel } from './sessionsModel';
import { sessionKeyOf } from './target';

export interface SessionActionsParts {
  readonly ownerId: string;
  readonly model: SessionsModel;
  readonly book: SessionBook;
  readonly runs: Runs;
  readonly transcript: Pick<Transcript, 'note'>;
  pool(): Promise<KernelPool>;
  /** Tells the person what failed after an action had returned. */
  onFailure(error: unknown): void;
}

/** What a person does to a session. Asks first where others hold it too; rejections are the caller's to tell. */
export class SessionActions implements Disposable {
  private readonly store = new DisposableStore();
  private readonly spokenOf = new Set<string>();

  constructor(private readonly parts: SessionActionsParts) {
    this.store.add(parts.model.onDidChange(() => this.speakOfUnheeded()));
  }

  dispose(): void {
    this.store.dispose();
  }

  /** Interrupts what runs in the session of a key; a run that only waits is cancelled. */
  async interrupt(key: string): Promise<void> {
    const session = this.parts.model.withKey(key);
    if (session?.state.kind === 'busy')
      return this.interruptRun(session, session.state.execution.id);
    // It starts, or it runs in a kernel of its own, which the pool does not list.
    const [first] = this.parts.runs.inSession(key);
    if (first) this.parts.runs.cancel(first.executionId);
  }

  async restart(session: SessionSnapshot): Promise<void> {
    if (!(await this.mayDisturb(session, 'Restart'))) return;
    const pool = await this.parts.pool();
    await pool.restart(session.id);
    this.parts.transcript.note(sessionKeyOf(session), 'Kernel restarted: its variables are gone.');
  }

  async kill(session: SessionSnapshot): Promise<void> {
    if (!(await this.mayDisturb(session, 'Kill'))) return;
    const pool = await this.parts.pool();
    const outcome = await pool.kill(session.id);
    const label = this.parts.book.labelOf(session);
    if (outcome.confirmed) {
      this.parts.transcript.note(sessionKeyOf(session), 'Kernel killed: its end is confirmed.');
      return;
    }
    const why = outcome.reason === undefined ? '' : ` ${outcome.reason}`;
    void vscode.window.showWarningMessage(
      `It is not confirmed that the kernel of ${label} has ended.${why} The Sessions view shows what becomes of it.`,
    );
  }

  async stopAll(): Promise<void> {
    const shared = this.parts.model.sessions().filter((session) => this.others(session).length > 0);
    if (shared.length > 0) {
      const names = shared.map((session) => this.parts.book.labelOf(session)).join(', ');
      if (!(await confirmed(`Others hold these sessions too: ${names}.`, 'Stop All'))) return;
    }
    const pool = await this.parts.pool();
    await pool.disposeAll();
  }

  private async interruptRun(session: SessionSnapshot, executionId: string): Promise<void> {
    const pool = await this.parts.pool();
    const verdict = await pool.interrupt(session.id, executionId);
    if (verdict.delivered) return;
    const why = verdict.reason === undefined ? '' : ` ${verdict.reason}`;
    const kill = 'Kill';
    const chosen = await vscode.window.showWarningMessage(
      `The interrupt did not reach ${verdict.target}.${why}`,
      kill,
    );
    if (chosen === kill) await this.kill(session);
  }

  /** An interrupt is a request: whoever swallows it runs on, and then a person wants to know what else there is. */
  private speakOfUnheeded(): void {
    for (const session of this.parts.model.sessions()) {
      if (session.state.kind !== 'busy') continue;
      const { id, unheeded, interruptedAt } = session.state.execution;
      // Once for each interrupt, whatever the person makes of it.
      const interrupt = `${id} ${interruptedAt}`;
      if (!unheeded || this.spokenOf.has(interrupt) || !this.isOurs(id)) continue;
      this.spokenOf.add(interrupt);
      this.offerMore(session, id).catch((error: unknown) => this.parts.onFailure(error));
    }
  }

  private isOurs(executionId: string): boolean {
    return this.parts.runs.get(executionId) !== undefined;
  }

  private async offerMore(session: SessionSnapshot, executionId: string): Promise<void> {
    const [again, kill] = ['Interrupt Again', 'Kill'];
    const label = this.parts.book.labelOf(session);
    const chosen = await vscode.window.showWarningMessage(
      `The run in ${label} has not heeded the interrupt.`,
      again,
      kill,
    );
    if (chosen === undefined || !this.stillRuns(session.id, executionId)) return;
    if (chosen === again) await this.interruptRun(session, executionId);
    else await this.kill(session);
  }

  private stillRuns(id: string, executionId: string): boolean {
    const state = this.parts.model.sessions().find((session) => session.id === id)?.state;
    return state?.kind === 'busy' && state.execution.id === executionId;
  }

  private async mayDisturb(session: SessionSnapshot, action: string): Promise<boolean> {
    const others = this.others(session);
    if (others.length === 0) return true;
    const label = this.parts.book.labelOf(session);
    return confirmed(
      `${label} is also held by ${others.join(', ')}.${this.whatRuns(session)}`,
      action,
    );
  }

  private whatRuns({ state }: SessionSnapshot): string {
    if (state.kind !== 'busy') return '';
    const firstLine = this.parts.runs.get(state.execution.id)?.firstLine;
    return firstLine === undefined ? ' Code of another owner runs.' : ` It runs: ${firstLine}`;
  }

  private others(session: SessionSnapshot): readonly string[] {
    return session.owners
      .filter((owner) => owner.kind === 'explicit' && owner.id !== this.parts.ownerId)
      .map((owner) => owner.id);
  }
}

async function confirmed(question: string, action: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, action, 'Cancel')) === action;
}
