import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import { lazy } from '../../base/lazy';

const SETTING = 'holdfast.background.codeLens';

/**
 * Offers to run cells in the background, above each. What it takes is loaded when the editor first asks for the lenses of
 * a Python file.
 */
export function registerCellLens(enabled: () => Promise<boolean>): Disposable {
  const changed = new vscode.EventEmitter<void>();
  const cells = lazy(() => import('../selection/cells'));
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    async provideCodeLenses(document) {
      if (!document.getText().includes('%%') || !(await enabled())) return [];
      const { cellsOf } = await cells();
      const lines = document.getText().split(/\r\n|\r|\n/);
      return cellsOf(lines).map(
        ({ marker }) =>
          new vscode.CodeLens(new vscode.Range(marker, 0, marker, 0), {
            title: '$(play) Run Cell in Background',
            tooltip: 'In a kernel of its own, which stops when the cell is over',
            command: 'holdfast.runCellInBackground',
            arguments: [document.uri, marker],
          }),
      );
    },
  };
  return vscode.Disposable.from(
    changed,
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(SETTING)) changed.fire();
    }),
    vscode.languages.registerCodeLensProvider({ language: 'python' }, provider),
  );
}
