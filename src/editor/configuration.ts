import * as v from 'valibot';
import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable';
import type { Log } from '../base/log';
import type { KernelLimits } from '../kernel/limits';
import type { PoolSettings } from '../pool/settings';
import { openSetting } from './openSetting';
import {
  defaults,
  kernelLimits,
  poolSettings,
  settings,
  type Setting,
  type SettingName,
} from './settings';

/** The settings, read nowhere else. */
export class Configuration {
  private readonly warned = new Set<string>();

  constructor(private readonly log: Log) {}

  /** A value of the wrong kind counts as the default, and is warned about once. */
  get<Name extends SettingName>(name: Name, scope?: vscode.Uri): Setting<Name> {
    const value: unknown = vscode.workspace.getConfiguration('holdfast', scope).get(name);
    const parsed = v.safeParse(settings[name], value);
    if (parsed.success) return parsed.output as Setting<Name>;
    const complaint = `The setting "holdfast.${name}" has a value that cannot be used: ${JSON.stringify(value)}. `;
    if (!this.warned.has(complaint)) {
      this.warned.add(complaint);
      this.log.warn(`${complaint}${JSON.stringify(defaults[name])} is used instead.`);
      void this.offerSettings(complaint, name);
    }
    return defaults[name];
  }

  forPool(): PoolSettings {
    return poolSettings((name) => this.get(name));
  }

  forKernels(): KernelLimits {
    return kernelLimits((name) => this.get(name));
  }

  onDidChange(listener: () => void): Disposable {
    return vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('holdfast')) listener();
    });
  }

  private async offerSettings(complaint: string, name: string): Promise<void> {
    const open = 'Open Settings';
    const chosen = await vscode.window.showWarningMessage(`${complaint}The default is used.`, open);
    if (chosen === open) await openSetting(`holdfast.${name}`);
  }
}
