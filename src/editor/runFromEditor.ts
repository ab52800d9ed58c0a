import * as vscode from 'vscode';
import { activePython, placeOf } from './place';
import type { RunRequest, Runs } from './runs';
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
  const request = fileRequest(uri);
  if (request) void runs.run(request);
}

/** The code that a run with capture is asked for: a menu's document, else what is selected, else the whole document. */
export function codeToCapture(uri: unknown): RunRequest | undefined {
  assertTrusted();
  const editor = activePython();
  if (!(uri instanceof vscode.Uri) && editor?.selections.some(({ isEmpty }) => !isEmpty)) {
    const picked = pickCode(linesOf(editor.document), editor.selections);
    if (picked) return requestFor(editor.document, picked);
  }
  return fileRequest(uri);
}

function fileRequest(uri: unknown): RunRequest | undefined {
  const document =
    uri instanceof vscode.Uri
      ? vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString())
      : activePython()?.document;
  if (!document) return hint('Open a Python file to run it.');
  const picked = pickDocument(linesOf(document));
  if (!picked) return hint('This file has no code.');
  return requestFor(document, picked);
}

function requestFor(document: vscode.TextDocument, { code, line }: PickedCode): RunRequest {
  const file = document.isUntitled ? document.uri.path : document.fileName;
  return { code, source: { file, line }, to: placeOf(document) };
}

function send(runs: Runs, document: vscode.TextDocument, picked: PickedCode): void {
  void runs.run(requestFor(document, picked));
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

function hint(text: string): undefined {
  vscode.window.setStatusBarMessage(`$(info) ${text}`, MESSAGE_MS);
}
