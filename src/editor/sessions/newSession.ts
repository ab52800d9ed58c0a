import { promises as fs } from 'node:fs';
import * as vscode from 'vscode';
import { namespaced } from '../../kernel/language';
import type { SessionSnapshot } from '../../pool/types';
import type { Interpreters } from '../python/interpreters';
import type { Interpreter } from '../python/interpreter';
import type { Place } from '../runs';
import { complaint, freeName } from './names';
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
  const value = freeName(folderName(place.folder), taken);
  const label = await askForName('New Session (2/2)', value, taken);
  if (label === undefined) return undefined;
  return {
    language: 'python',
    sessionId: namespaced('python', label),
    cwd: await fs.realpath(place.folder),
    interpreter,
    label,
  };
}

/** A session of the same folder and interpreter as another, under a name of its own. Undefined: the person left. */
export async function askForSessionBeside(
  session: SessionSnapshot,
  label: string,
  taken: readonly string[],
): Promise<SessionTarget | undefined> {
  const name = await askForName(`New Session Beside ${label}`, freeName(label, taken), taken);
  if (name === undefined) return undefined;
  const { cwd, interpreter } = session;
  return {
    language: 'python',
    sessionId: namespaced('python', name),
    cwd,
    interpreter,
    label: name,
  };
}

export async function askForName(
  title: string,
  value: string,
  taken: readonly string[],
): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title,
    prompt: 'What is it called?',
    value,
    validateInput: (typed) => complaint(typed.trim(), taken),
  });
  return name?.trim();
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
