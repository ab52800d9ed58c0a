import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { until } from '../support/until';

/** A file of the open folder. */
export function inFolder(name: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'a folder is open');
  return path.join(folder.uri.fsPath, name);
}

/** Opens a Python document with this text, on disk under a name or else untitled, and the cursor at its start. */
export async function openPython(text: string, name?: string): Promise<vscode.TextEditor> {
  if (name === undefined) {
    const document = await vscode.workspace.openTextDocument({ language: 'python', content: text });
    return vscode.window.showTextDocument(document);
  }
  fs.mkdirSync(path.dirname(inFolder(name)), { recursive: true });
  fs.writeFileSync(inFolder(name), text);
  const document = await vscode.workspace.openTextDocument(inFolder(name));
  return vscode.window.showTextDocument(document);
}

/** Resolves to what the code under test has written to a file, once its last line is `end`. */
export async function written(name: string): Promise<string[]> {
  const file = inFolder(name);
  const lines = (): string[] =>
    fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  assert.ok(await until(() => lines().at(-1) === 'end', 15_000), `${name}: ${lines().join(' | ')}`);
  return lines().slice(0, -1);
}

/** Python that adds the values of expressions to a file, one a line. */
export function say(name: string, ...expressions: string[]): string {
  const path = JSON.stringify(inFolder(name));
  return expressions.map((each) => `print(${each}, file=open(${path}, "a"))`).join('; ');
}

export function select(editor: vscode.TextEditor, line: number): void {
  const position = new vscode.Position(line, 0);
  editor.selection = new vscode.Selection(position, position);
}
