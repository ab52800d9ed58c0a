import type { Locator } from 'playwright-core';
import type { Script, Step } from '../scriptedAgent/script';
import type { WorkbenchWindow } from './window';

/** What a server needs for a chat whose agent lets a model follow a script, and may be the editor's own agent. */
export const chatOptions = {
  companions: ['remoteControl', 'scriptedAgent'],
  settings: { 'chat.disableAIFeatures': false, 'chat.tips.enabled': false },
  args: ['--enable-proposed-api=holdfast-tests.scripted-agent'],
} as const;

/** The chat of a window, as a person uses it. */
export interface WorkbenchChat {
  /** What the model does in the requests from here on, each from the first step on: in those with the prompt, or in all. */
  follow(steps: readonly Step[], prompt?: string): Promise<void>;
  /** What tools have told the model since then, once all calls of a step have answered; of one prompt or of all. */
  heard(prompt?: string): Promise<string[]>;
  /** Sends a prompt in the chat view, which opens, and does not wait for the answer. */
  send(prompt: string): Promise<void>;
  /** Opens a chat in an editor and sends a prompt there. */
  sendInEditor(prompt: string): Promise<void>;
  /** What the question before a tool's call says, once it is there. */
  confirmation(): Promise<string>;
  /** Confirms this call, and those to come in this window. */
  allow(): Promise<void>;
  /** Confirms this call alone. */
  allowOnce(): Promise<void>;
  /** Refuses this call; the model is told. */
  skip(): Promise<void>;
  /** Stops the request that is being answered. */
  stop(): Promise<void>;
  /** An answer with exactly this paragraph. */
  said(text: string): Locator;
  newChat(): Promise<void>;
  deleteAllChats(): Promise<void>;
}

export function chatOf(window: WorkbenchWindow): WorkbenchChat {
  const { page } = window;
  const confirmation = (): Locator => page.locator('.chat-confirmation-widget-container:visible');
  return {
    follow: async (steps, prompt) => {
      await window.evaluate(
        (api, script: Script) => api.commands.executeCommand('holdfast-tests.script', script),
        { steps, prompt },
      );
    },
    heard: async (prompt) =>
      window.evaluate(
        (api, asked: string | undefined) =>
          api.commands.executeCommand<string[]>('holdfast-tests.heard', asked),
        prompt,
      ),
    send: async (prompt) => {
      await window.evaluate(async (api, query: string) => {
        await api.commands.executeCommand('workbench.action.chat.open', { query, mode: 'agent' });
      }, prompt);
    },
    sendInEditor: async (prompt) => {
      await window.evaluate(async (api) => {
        await api.commands.executeCommand('workbench.action.openChat');
      });
      const session = page.locator('.editor-group-container .interactive-session:visible');
      const input = session.locator('.interactive-input-part .monaco-editor[role="code"]').first();
      await input.click();
      await page.keyboard.type(prompt);
      await input.locator('.view-lines', { hasText: prompt.replaceAll(' ', '\u00a0') }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Enter');
    },
    confirmation: async () => {
      await confirmation().last().waitFor();
      // Code has other spaces than those of its text.
      return (await confirmation().last().innerText()).replaceAll('\u00a0', ' ');
    },
    allow: async () => {
      await confirmation()
        .getByRole('button', { name: /^Allow/ })
        .first()
        .click();
    },
    allowOnce: async () => {
      await confirmation().locator('.monaco-dropdown-button').last().click();
      await page.getByRole('menuitem', { name: /^Allow Once/ }).click();
    },
    skip: async () => {
      await confirmation().locator('.monaco-button').getByText('Skip', { exact: true }).click();
    },
    stop: async () => {
      await window.evaluate((api) => api.commands.executeCommand('workbench.action.chat.cancel'));
    },
    said: (text) =>
      page.locator('.interactive-response:visible').getByText(text, { exact: true }).first(),
    newChat: async () => {
      await window.evaluate(async (api) => {
        // It is a new one in the chat that had the focus last, which may be gone by now.
        await api.commands.executeCommand('workbench.action.chat.open');
        await api.commands.executeCommand('workbench.action.chat.newChat');
      });
      await page
        .locator('.part.auxiliarybar .interactive-response')
        .first()
        .waitFor({ state: 'hidden' });
    },
    deleteAllChats: async () => {
      // Asks first: the command is over when it is answered.
      const deleting = window.evaluate(async (api) => {
        await api.commands.executeCommand('workbench.action.chat.clearHistory');
      });
      const dialog = page.locator('.monaco-dialog-box');
      await dialog.getByRole('button', { name: 'Delete All' }).click();
      await deleting;
    },
  };
}
