import os from 'node:os';
import * as vscode from 'vscode';
import type { Clock } from '../../base/clock';
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { HostInventory } from '../../hosting/inventory';
import type { KernelPool } from '../../pool/types';
import type { BackgroundFacts } from '../sessions/backgroundRows';
import type { SessionsModel } from '../sessions/sessionsModel';
import { RecentFailures } from './recentFailures';
import { StopLog } from './stops';

const INVENTORY_WITHIN_MS = 5_000;
const SAID_FOR_MS = 5_000;

interface DiagnosticsParts {
  readonly ownerId: string;
  readonly version: string;
  readonly model: Pick<SessionsModel, 'sessions' | 'capacity'>;
  readonly clock: Clock;
  hostPid(): number | undefined;
}

/** Remembers what went wrong and how kernels ended, and tells it all in a text that a person can pass on. */
export class Diagnostics {
  private readonly failures = new RecentFailures();
  private readonly stops = new StopLog();

  constructor(private readonly parts: DiagnosticsParts) {}

  failed(error: unknown): void {
    this.failures.add(error, this.parts.clock.now());
  }

  follow(pool: Pick<KernelPool, 'sessions' | 'onDidChangeSessions'>): Disposable {
    return pool.onDidChangeSessions(() => this.stops.look(pool.sessions(), this.parts.clock.now()));
  }

  async copy(background: readonly BackgroundFacts[]): Promise<void> {
    await vscode.env.clipboard.writeText(await this.report(background));
    vscode.window.setStatusBarMessage('$(check) Holdfast: diagnostics copied', SAID_FOR_MS);
  }

  private async report(background: readonly BackgroundFacts[]): Promise<string> {
    const { ownerId, model, clock } = this.parts;
    const [{ diagnosticsReport }, { changedSettings }, { redactor }, hosts] = await Promise.all([
      import('./report'),
      import('./changedSettings'),
      import('./redact'),
      this.inventory(),
    ]);
    const configuration = vscode.workspace.getConfiguration('holdfast');
    const own = Object.entries(configuration.get<object>('environment') ?? {});
    // Whatever a user has written down for kernels counts as a secret, whatever it is called.
    const written = own.map(([, value], at) => [`SECRET_${at}`, String(value)]);
    const now = clock.now();
    return diagnosticsReport(
      {
        now,
        versions: versions(this.parts.version),
        settings: changedSettings((name) => configuration.get(name)),
        ownerId,
        sessions: model.sessions(),
        capacity: model.capacity(),
        background,
        stops: this.stops.all(now),
        hostPid: this.parts.hostPid(),
        hosts,
        failures: this.failures.all(),
      },
      redactor(os.homedir(), process.env, Object.fromEntries(written) as Record<string, string>),
    );
  }

  /** Within 5 s: a system that hangs is what such reports are about. */
  private async inventory(): Promise<readonly HostInventory[] | string> {
    const { takeInventory } = await import('../../hosting/inventory');
    return new Promise((resolve) => {
      const limit = this.parts.clock.after(INVENTORY_WITHIN_MS, () =>
        resolve(`not known within ${INVENTORY_WITHIN_MS / 1_000} s`),
      );
      takeInventory()
        .then(resolve, (error: unknown) => resolve(`not known: ${messageOf(error)}`))
        .finally(() => limit.dispose());
    });
  }
}

function versions(ours: string): readonly string[] {
  const { appName, uiKind, remoteName } = vscode.env;
  const where = uiKind === vscode.UIKind.Web ? 'in a browser' : 'on the desktop';
  const folders = vscode.workspace.workspaceFolders?.length ?? 0;
  return [
    `Holdfast ${ours}`,
    `${appName} ${vscode.version}, ${where}${remoteName === undefined ? '' : `, remote: ${kindOf(remoteName)}`}`,
    `Node ${process.version}, ${process.platform} ${process.arch}, ${os.release()}`,
    `${folders} workspace folders, ${vscode.workspace.isTrusted ? 'trusted' : 'not trusted'}`,
  ];
}

/** `ssh-remote` and the like; what is none of those names a machine. */
function kindOf(remoteName: string): string {
  return /^[a-z-]+$/.test(remoteName) ? remoteName : 'a server';
}
