import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { deferred } from '../../src/base/deferred';
import type { Assignment, Command, Report, SeenSession } from './messages';

export interface WindowOptions {
  readonly script: string;
  readonly assignment: Assignment;
  readonly env: NodeJS.ProcessEnv;
  onReport(window: Window, report: Report): void;
  onEnd(window: Window): void;
}

/** One process that stands in for the extension host of a window. */
export class Window {
  readonly pid: number;
  readonly openedAt = Date.now();
  /** It has taken the place of the one before it, or it needs none. */
  isClaimed = false;
  isReady = false;
  isGone = false;
  /** By us, ms since the epoch. */
  stoppedAt: number | undefined;
  /** Its end was ordered; how. */
  ending: string | undefined;
  hostPid: number | null = null;
  sessions: readonly SeenSession[] = [];
  private readonly begun = deferred();
  private readonly child: ChildProcess;

  constructor({ script, assignment, env, onReport, onEnd }: WindowOptions) {
    const { folder } = assignment;
    this.child = spawn(process.execPath, [script, JSON.stringify(assignment)], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.pid = this.child.pid ?? 0;
    const { stdin, stdout, stderr } = this.child;
    // A window that is killed has closed it.
    stdin?.on('error', () => undefined);
    stderr?.on('data', (said: Buffer) =>
      appendFileSync(path.join(folder, 'windows.log'), `${this.pid} stderr ${said.toString()}`),
    );
    if (stdout) {
      createInterface({ input: stdout }).on('line', (line) => {
        const report = JSON.parse(line) as Report;
        this.heard(report);
        onReport(this, report);
      });
    }
    this.child.once('close', () => {
      this.isGone = true;
      this.begun.resolve();
      onEnd(this);
    });
  }

  get isStopped(): boolean {
    return this.stoppedAt !== undefined;
  }

  tell(command: Command): void {
    this.child.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  /** As a reload or a close asks it to. */
  leave(): void {
    this.child.stdin?.end();
  }

  /** Resolves when it has taken a place, has found none, or is gone. */
  get hasBegun(): Promise<void> {
    return this.begun.promise;
  }

  private heard(report: Report): void {
    if (report.what === 'claimed' || report.what === 'ready') this.begun.resolve();
    if (report.what === 'claimed') {
      this.isClaimed = true;
      this.hostPid = report.hostPid;
    } else if (report.what === 'ready') this.isReady = true;
    else if (report.what === 'sessions') {
      this.sessions = report.sessions;
      this.hostPid = report.hostPid;
    }
  }
}
