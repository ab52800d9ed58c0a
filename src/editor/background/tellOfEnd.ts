import * as vscode from 'vscode';
import type { BackgroundSnapshot } from '../../runner/backgroundTypes';
import type { Prompts } from '../prompts';
import { backgroundRowId } from '../sessions/row';
import type { Setting } from '../settings';
import { endInWords } from './backgroundActions';

/** Tells the person that a run of this window is over, if that is wanted now. */
export function tellOfEnd(
  run: BackgroundSnapshot,
  ownerId: string,
  when: Setting<'background.notify'>,
  prompts: Prompts,
): void {
  const isOwn = (run.request.ownerId ?? ownerId) === ownerId;
  if (!isOwn || when === 'never') return;
  if (when === 'unfocused' && vscode.window.state.focused) return;
  const show = 'Show Output';
  const text = endInWords(run);
  const asked = run.status === 'failed' ? prompts.warn(text, show) : prompts.inform(text, show);
  void asked.then((chosen) => {
    if (chosen === show)
      void vscode.commands.executeCommand(
        'holdfast.showBackground',
        backgroundRowId(run.executionId),
      );
  });
}
