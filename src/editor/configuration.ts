import * as v from 'valibot';
import * as vscode from 'vscode';
import type { Log } from '../base/log';
import { openSetting } from './openSetting';

/** The settings, read nowhere else. Names, defaults and descriptions are in package.json. */
const settings = {
  'python.interpreter': v.string(),
  kernelMode: v.picklist(['session', 'per-call']),
  shiftEnter: v.boolean(),
};
type Settings = typeof settings;
type Value<Name extends keyof Settings> = v.InferOutput<Settings[Name]>;

const defaults: { readonly [Name in keyof Settings]: Value<Name> } = {
  'python.interpreter': '',
  kernelMode: 'session',
  shiftEnter: false,
};

export class Configuration {
  private readonly warned = new Set<string>();

  constructor(private readonly log: Log) {}

  /** A value of the wrong kind counts as the default, and is warned about once. */
  get<Name extends keyof Settings>(name: Name, scope?: vscode.Uri): Value<Name> {
    const value: unknown = vscode.workspace.getConfiguration('holdfast', scope).get(name);
    const parsed = v.safeParse(settings[name], value);
    if (parsed.success) return parsed.output as Value<Name>;
    const complaint = `The setting "holdfast.${name}" has a value that cannot be used: ${JSON.stringify(value)}. `;
    if (!this.warned.has(complaint)) {
      this.warned.add(complaint);
      this.log.warn(`${complaint}${JSON.stringify(defaults[name])} is used instead.`);
      void this.offerSettings(complaint, name);
    }
    return defaults[name];
  }

  private async offerSettings(complaint: string, name: string): Promise<void> {
    const open = 'Open Settings';
    const chosen = await vscode.window.showWarningMessage(`${complaint}The default is used.`, open);
    if (chosen === open) await openSetting(`holdfast.${name}`);
  }
}
