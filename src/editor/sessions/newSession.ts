import { promises as fs } from 'node:fs';
import * as vscode from 'vscode';
import { namespaced } from '../../kernel/language';
import type { Interpreters } from '../python/interpreters';
import type { Interpreter } from '../python/interpreter';
import type { Place } from '../runs';
import { folderName } from './sessionBook';
import type { SessionTarget } from './target';

interface InterpreterItem extends vscode.QuickPickItem {
  readonly choose: () => Promise<string | undefined> | string | undefined;
}

/** Asks which interpreter a new session has and what it is called. Undefined: the person left. */
export async function askForSession(
  place: Place,
  interpreters: Interpreters,
  taken: readonly string[],
): Promise<SessionTarget | undefined> {
  const item = await vscode.window.showQuickPick(interpreterItems(place.folder, interpreters), {
    title: 'New Session (1/2)',
    placeHolder: 'Which Python runs it?',
    matchOnDescription: true,
  });
  if (!item) return undefined;
  const interpreter = await item.choose();
  if (interpreter === undefined) return undefined;
  const label = await vscode.window.showInputBox({
    title: 'New Session (2/2)',
    prompt: 'What is it called?',
    value: freeName(folderName(place.folder), taken),
    validateInput: (name) => complaint(name.trim(), taken),
  });
  if (label === undefined) return undefined;
  return {
    language: 'python',
    sessionId: namespaced('python', label.trim()),
    cwd: await fs.realpath(place.folder),
    interpreter,
    label: label.trim(),
  };
}

async function interpreterItems(
  folder: string,
  interpreters: Interpreters,
): Promise<InterpreterItem[]> {
  // That none is found must not keep a person from browsing for one.
  const usual = await interpreters.find(folder).catch(() => undefined);
  const others = (await interpreters.list(folder)).filter((path) => path !== usual?.path);
  return [
    ...(usual ? [usualItem(usual)] : []),
    ...others.map((path) => ({ label: path, choose: () => path })),
    { label: '$(folder-opened) Browse…', alwaysShow: true, choose: browse },
  ];
}

function usualItem(usual: Interpreter): InterpreterItem {
  return {
    label: usual.path,
    description: `$(star-full) ${reasonInWords(usual.source)}`,
    choose: () => usual.path,
  };
}

function reasonInWords(source: Interpreter['source']): string {
  switch (source) {
    case 'setting':
      return 'from the setting';
    case 'pythonExtension':
      return "the Python extension's choice";
    case 'workspace':
      return "this folder's .venv";
    case 'path':
      return 'first on PATH';
  }
}

async function browse(): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: 'Python of the New Session',
    openLabel: 'Use This Python',
    canSelectMany: false,
  });
  return chosen?.[0]?.fsPath;
}

export function freeName(base: string, taken: readonly string[]): string {
  for (let number = 2; ; number++) {
    const name = `${base} ${number}`;
    if (!taken.includes(name)) return name;
  }
}

function complaint(name: string, taken: readonly string[]): string | undefined {
  if (name === '' || name === 'default') return 'A session needs a name of its own.';
  return taken.includes(name) ? `There is a session called ${name} already.` : undefined;
}
