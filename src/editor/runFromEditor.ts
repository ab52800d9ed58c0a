import * as vscode from 'vscode';
import { activePython, placeOf } from './place';
import type { Runs } from './runs';
import { pickCode, pickDocument, type PickedCode } from './selection/pickCode';
import { assertTrusted } from './trust';

const MESSAGE_MS = 4_000;

/** Runs what is selected, or the statement at the cursor. Everything up to the hand-over happens before this returns. */
export function runSelection(runs: Runs, { advance }: { advance: boolean }): void {
  assertTrusted();
  const editor = activePython();
  if (!editor) return hint('Open a Python file to run code from it.');
  const { document } = editor;
  const picked = pickCode(linesOf(document), editor.selections);
  if (!picked) return hint('There is no code at the cursor or below it.');
  // The cursor moves first: a next press may come before this run is over.
  if (advance) moveTo(editor, picked.advanceTo);
  send(runs, document, picked);
}

/** Runs a whole document, saved or not. Menus pass the document's URI. */
export function runFile(runs: Runs, uri: unknown): void {
  assertTrusted();
  const document =
    uri instanceof vscode.Uri
      ? vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString())
      : activePython()?.document;
  if (!document) return hint('Open a Python file to run it.');
  const picked = pickDocument(linesOf(document));
  if (!picked) return hint('This file has no code.');
  send(runs, document, picked);
}

function send(runs: Runs, document: vscode.TextDocument, { code, line }: PickedCode): void {
  const file = document.isUntitled ? document.uri.path : document.fileName;
  void runs.run({ code, source: { file, line }, to: placeOf(document) });
}

function linesOf(document: vscode.TextDocument): string[] {
  return document.getText().split(/\r\n|\r|\n/);
}

function moveTo(editor: vscode.TextEditor, line: number | undefined): void {
  if (line === undefined) return;
  const { firstNonWhitespaceCharacterIndex } = editor.document.lineAt(line);
  const position = new vscode.Position(line, firstNonWhitespaceCharacterIndex);
  editor.selection = new vscode.Selection(position, position);
  editor.revealRange(
    new vscode.Range(position, position),
    vscode.TextEditorRevealType.InCenterIfOutsideViewport,
  );
}

function hint(text: string): void {
  vscode.window.setStatusBarMessage(`$(info) ${text}`, MESSAGE_MS);
}
