import * as vscode from 'vscode';
import { codeOf, messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { openSetting } from './openSetting';
import { SETTING } from './python/interpreter';

interface NextStep {
  readonly title: string;
  take(): unknown;
}

/** Tells a person what failed and what to do next. The same message is not shown again while it is on display. */
export class Failures {
  private readonly onDisplay = new Set<string>();

  constructor(
    private readonly log: Log,
    private readonly showLog: () => void,
  ) {}

  tell(error: unknown): void {
    const message = messageOf(error);
    this.log.error(message, error);
    if (this.onDisplay.has(message)) return;
    this.onDisplay.add(message);
    void this.display(message, this.nextStep(codeOf(error)));
  }

  private async display(message: string, step: NextStep): Promise<void> {
    try {
      const chosen = await vscode.window.showErrorMessage(message, step.title);
      if (chosen === step.title) step.take();
    } finally {
      this.onDisplay.delete(message);
    }
  }

  private nextStep(code: string | undefined): NextStep {
    switch (code) {
      case 'untrusted_workspace':
        return {
          title: 'Manage Workspace Trust',
          take: () => vscode.commands.executeCommand('workbench.trust.manage'),
        };
      case 'interpreter_not_found':
      case 'interpreter_failed':
        return { title: 'Open Settings', take: () => openSetting(SETTING) };
      case 'capture_busy':
        // What goes on, and can be stopped, is there.
        return {
          title: 'Show Sessions',
          take: () => vscode.commands.executeCommand('holdfast.sessions.focus'),
        };
      default:
        return { title: 'Show Log', take: this.showLog };
    }
  }
}
