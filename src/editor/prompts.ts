import * as vscode from 'vscode';

/** Short questions in notifications, which do not stand in the way of anything. Undefined: left without an answer. */
export interface Prompts {
  warn(text: string, ...actions: string[]): Promise<string | undefined>;
  inform(text: string, ...actions: string[]): Promise<string | undefined>;
}

export const prompts: Prompts = {
  warn: async (text, ...actions) => vscode.window.showWarningMessage(text, ...actions),
  inform: async (text, ...actions) => vscode.window.showInformationMessage(text, ...actions),
};
