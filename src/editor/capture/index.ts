import * as vscode from 'vscode';
import { lazy } from '../../base/lazy';
import type { Configuration } from '../configuration';
import { codeToCapture } from '../runFromEditor';
import type { CapturesParts } from './captures';

/** The commands of captures, which load what they need at their first use. */
export function registerCaptures(
  parts: Omit<CapturesParts, 'isEnabled'> & {
    configuration(): Promise<Configuration>;
  },
): vscode.Disposable {
  const store: vscode.Disposable[] = [];
  const captures = lazy(async () => {
    const [{ Captures }, configuration] = await Promise.all([
      import('./captures'),
      parts.configuration(),
    ]);
    const made = new Captures({ ...parts, isEnabled: () => configuration.get('capture.enabled') });
    store.push(made);
    return made;
  });
  const command = (name: string, act: (argument: unknown) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(name, (argument: unknown) =>
      act(argument).catch((error: unknown) => parts.onFailure(error)),
    );
  store.push(
    command('holdfast.runWithCapture', async (uri) => {
      // What is selected now, not when all is loaded.
      const request = codeToCapture(uri);
      if (request) await (await captures()).run(request);
    }),
    command('holdfast.showCapturedChanges', async () => (await captures()).show()),
  );
  return new vscode.Disposable(() => store.forEach((each) => void each.dispose()));
}
