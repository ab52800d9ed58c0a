import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { CHAOS_MARK, nonceOf, SLOT_MARK, statusOf, type Living } from './census';
import type { Code } from './codes';
import type { Assignment, Report, SeenSession } from './messages';
import { brief, complaintAbout, type Kernel, type Run } from './model';
import { makeTraceFolder, readTrace, type Trace } from './traces';
import { Window } from './window';

export interface SlotParts {
  readonly name: string;
  readonly root: string;
  readonly mark: string;
  readonly script: string;
  readonly assignment: Omit<Assignment, 'workspace' | 'folder'>;
  readonly runtimeDir: string;
  onWrong(complaint: string): void;
  onNote(note: string): void;
}

/** What a window knows is in its kernel host's hands so much later at most. */
const HANDED_ON_MS = 1_500;

const HELD = ['idle', 'busy', 'stopping', 'stopUnconfirmed', 'starting'];

/** One window after the other on the same workspace, and the model of what must have become of their sessions. */
export class Slot {
  readonly folder: string;
  readonly kernels = new Map<string, Kernel>();
  readonly runs = new Map<string, Run>();
  window: Window | undefined;
  /** Windows whose end was ordered and that have not gone yet. */
  readonly leaving = new Set<Window>();
  /** When the last window was told to end, and nobody has taken its place. */
  emptySince: number | undefined;
  stoppedHost: number | undefined;
  takenUp = 0;
  notTakenUp = 0;
  /** Runs whose end another window has shown than the one that they were given to. */
  endedElsewhere = 0;
  private heldLast: { readonly host: number; readonly until: number } | undefined;
  private readonly givenTo = new Map<string, Window>();

  constructor(readonly parts: SlotParts) {
    this.folder = path.join(parts.root, parts.name);
    mkdirSync(this.folder);
    makeTraceFolder(this.folder);
  }

  get name(): string {
    return this.parts.name;
  }

  get graceMs(): number {
    return this.parts.assignment.graceMs;
  }

  /** The window that commands go to. */
  get attached(): Window | undefined {
    const { window } = this;
    return window?.isReady === true && window.ending === undefined ? window : undefined;
  }

  open(): void {
    const { name, mark, script, assignment, runtimeDir } = this.parts;
    this.window = new Window({
      script,
      assignment: { ...assignment, workspace: name, folder: this.folder },
      env: {
        ...process.env,
        XDG_RUNTIME_DIR: runtimeDir,
        TMPDIR: runtimeDir,
        [CHAOS_MARK]: mark,
        [SLOT_MARK]: name,
      },
      onReport: (window, report) => this.heard(window, report),
      onEnd: (window) => this.ended(window),
    });
  }

  /** Ends the window: a signal, or (`leave`) as it is asked to. */
  end(how: 'SIGKILL' | 'SIGTERM' | 'leave'): void {
    const { window } = this;
    if (!window) return;
    window.ending = how;
    this.leaving.add(window);
    this.window = undefined;
    this.emptySince ??= Date.now();
    if (window.hostPid !== null) this.heldLast = { host: window.hostPid, until: Date.now() };
    const handedOn = (window.stoppedAt ?? Date.now()) - HANDED_ON_MS;
    for (const run of this.openRuns()) {
      if (run.knownAt === undefined || run.knownAt > handedOn) run.mayVanish = true;
    }
    if (how === 'leave') window.leave();
    else process.kill(window.pid, how);
  }

  run(id: string, session: string, code: Code): void {
    const { attached } = this;
    if (!attached) return;
    const run: Run = { id, slot: this.name, session, code };
    const isTouched = attached.sessions.some(
      (each) =>
        nameIn(each) === session &&
        (each.state === 'idle' || each.state === 'busy') &&
        this.kernelOf(each)?.fate !== 'lives',
    );
    if (isTouched || !this.isSafe(attached, session)) run.mayFail = true;
    this.runs.set(id, run);
    this.givenTo.set(id, attached);
    // It may be over before its window tells which kernel runs it.
    if (isDeadly(code)) {
      this.disturb(session);
      for (const kernel of this.kernels.values()) {
        if (kernel.session === session && kernel.fate === 'lives') kernel.fate = 'may';
      }
    }
    attached.tell({ do: 'run', run: id, session, code: code.text });
  }

  /** Something is done to a kernel that it may die of, and what waits for it with it. */
  touch(kernel: Kernel, fate: 'may' | 'ends'): void {
    kernel.fate = fate;
    kernel.touchedAt ??= kernel.stoppedAt ?? Date.now();
    this.disturb(kernel.session);
  }

  /** Whatever waits or runs in the session may come to nothing. */
  private disturb(session: string): void {
    for (const run of this.openRuns()) if (run.session === session) run.mayFail = true;
  }

  private openRuns(): Run[] {
    return [...this.runs.values()].filter(({ end }) => !end);
  }

  kernelOf({ pid }: Pick<SeenSession, 'pid'>): Kernel | undefined {
    return [...this.kernels.values()].find((kernel) => kernel.pid === pid);
  }

  /** Whatever its kernels have been, this may be their end. */
  doubt(fate: 'may' | 'ends'): void {
    for (const kernel of this.kernels.values()) {
      if (kernel.fate !== 'ends') kernel.fate = fate;
      kernel.isUnheard = true;
    }
    for (const run of this.openRuns()) {
      run.mayFail = true;
      run.mayVanish = true;
    }
  }

  /** Whether somebody answers for this process now. */
  holds({ pid, nonce }: Living): boolean {
    const { window } = this;
    if (window?.pid === pid) return true;
    if (!window?.isClaimed && !window?.isReady) return false;
    if (!window.isReady || pid === window.hostPid) return true;
    if (nonce === undefined) return window.sessions.some(({ state }) => state === 'starting');
    return window.sessions.some(
      (session) =>
        session.state === 'starting' ||
        (HELD.includes(session.state) && this.kernelOf(session)?.nonce === nonce),
    );
  }

  /** Until when a window held what is in this kernel host, ms since the epoch; 0: not as the last one. */
  heldUntil(host: number): number {
    return this.heldLast?.host === host ? this.heldLast.until : 0;
  }

  /** Sessions that should live and do not, or that the window does not show. */
  lost(): string[] {
    const { attached } = this;
    const settled =
      attached &&
      !attached.isStopped &&
      attached.sessions.every(({ state }) => state !== 'starting');
    return [...this.kernels.values()].flatMap((kernel) => {
      if (kernel.fate !== 'lives') return [];
      const name = `${kernel.session} of ${this.name}, kernel ${kernel.pid},`;
      if (statusOf(kernel.pid)?.start !== kernel.start) return [`${name} is gone`];
      if (settled && !attached.sessions.some(({ pid }) => pid === kernel.pid)) {
        return [`${name} lives, and its window does not show it`];
      }
      return [];
    });
  }

  /** What is wrong with what has become of its runs, when everything has come to rest. */
  wrongAtRest(): string[] {
    return [...this.runs.values()].flatMap((run) => {
      const { id, code, end, knownAt, mayVanish } = run;
      const { pids } = this.traceOf(run);
      const name = `run ${id} (${code.name})`;
      if (pids.length > 1) return [`${name} was sent twice`];
      if (end || knownAt === undefined || mayVanish) return [];
      const was = pids.length > 0 ? 'was begun' : 'has waited';
      return [`${name} ${was}, and its end is not shown`];
    });
  }

  /** Knows by it which kernel has the run, also where no window has told in time. */
  private traceOf(run: Run): Trace {
    const trace = readTrace(this.folder, run.id);
    const [pid] = trace.pids;
    if (pid !== undefined && !run.kernel) {
      const kernel = this.kernelOf({ pid });
      if (kernel?.session === run.session) run.kernel = kernel;
    }
    return trace;
  }

  /** What is told of only after something has happened to its surroundings may have been hit by that. */
  private isSafe(window: Window, session: string): boolean {
    const { hostPid } = window;
    if (window !== this.window || hostPid === null || this.stoppedHost !== undefined) return false;
    const isThreatened = this.openRuns().some(
      (run) => run.session === session && isDeadly(run.code),
    );
    return !this.doomedHosts.has(hostPid) && !isThreatened;
  }

  private heard(window: Window, report: Report): void {
    const { onWrong, onNote } = this.parts;
    switch (report.what) {
      case 'claimed':
        this.takenUp += 1;
        if (window === this.window) this.emptySince = undefined;
        onNote(`${this.name}: window ${window.pid} takes up host ${report.hostPid}`);
        break;
      case 'ready':
        if (window === this.window) this.emptySince = undefined;
        onNote(`${this.name}: window ${window.pid} is ready`);
        break;
      case 'notTakenUp':
        // A machine that is busy with others may not answer in time. How often is looked at in the end.
        this.notTakenUp += 1;
        this.doubt('may');
        onNote(`${this.name}: window ${window.pid} does not take up: ${report.why}`);
        break;
      case 'sessions':
        for (const session of report.sessions) this.meet(window, session);
        break;
      case 'finished': {
        const { end, told } = report;
        const { state } = end;
        const isLast = window.ending === 'leave' && (state === 'cancelled' || state === 'failed');
        onNote(
          `${this.name}: window ${window.pid} shows ${report.run} as ${brief(end)}: ${JSON.stringify(told)}`,
        );
        // A window that leaves sees no more of it; what became of it is the next one's to show.
        if (isLast) break;
        const run = this.runs.get(report.run);
        const complaint = run ? complaintAbout(run, end, this.traceOf(run)) : 'is not known';
        if (complaint !== undefined) {
          onWrong(`${this.name}: run ${report.run} ${complaint}; ${JSON.stringify(told)}`);
        }
        if (!run || run.end) break;
        run.end = end;
        if (this.givenTo.get(run.id) !== window) this.endedElsewhere += 1;
      }
    }
  }

  private meet(window: Window, session: SeenSession): void {
    const { pid } = session;
    if (pid === null) return;
    const isAlive = session.state === 'idle' || session.state === 'busy';
    const status = statusOf(pid);
    let kernel = this.kernelOf(session);
    if (!kernel && isAlive && status) {
      const { start } = status;
      kernel = {
        slot: this.name,
        pid,
        start,
        nonce: nonceOf(pid),
        session: nameIn(session),
        toldBy: window.pid,
        fate: 'may',
      };
      if (this.isSafe(window, kernel.session)) kernel.fate = 'lives';
      this.kernels.set(`${pid}/${start}`, kernel);
    } else if (kernel && isAlive && kernel.fate === 'lives' && kernel.toldBy !== window.pid) {
      kernel.hasOutlivedWindow = true;
    }
    if (window === this.window && window.hostPid !== null) this.know(session);
    const run = session.execution === null ? undefined : this.runs.get(session.execution);
    if (run && kernel) {
      run.kernel = kernel;
      if (isDeadly(run.code)) kernel.fate = 'ends';
    }
  }

  private know({ execution, queue }: SeenSession): void {
    for (const id of [execution, ...queue]) {
      const run = id === null ? undefined : this.runs.get(id);
      if (run) run.knownAt ??= Date.now();
    }
  }

  /** Hosts that were told to end, or killed. */
  readonly doomedHosts = new Set<number>();

  private ended(window: Window): void {
    if (window.ending === undefined) {
      this.parts.onWrong(`${this.name}: window ${window.pid} ended by itself`);
    }
    this.leaving.delete(window);
  }
}

const isDeadly = ({ name }: Code): boolean => name === 'its own end';

const nameIn = ({ sessionId }: SeenSession): string => sessionId.slice('python:'.length);
