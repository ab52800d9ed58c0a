import * as vscode from 'vscode';
import { fillIn, type Step } from './script';

/** Newer than the types that the product is built against. */
interface ChatProviders {
  registerLanguageModelChatProvider(vendor: string, provider: object): vscode.Disposable;
}

interface Message {
  readonly content: readonly unknown[];
}

/** Registers the model of a vendor. Where it stands in its script it knows from the messages: one step per answer of its own. */
export function registerModel(
  vendor: string,
  script: (prompt: string) => readonly Step[],
): vscode.Disposable {
  const about = {
    id: 'script',
    name: 'Script',
    family: 'script',
    version: '1',
    maxInputTokens: 100_000,
    maxOutputTokens: 4_096,
    capabilities: { toolCalling: true },
    isUserSelectable: true,
    isDefault: true,
  };
  return (vscode.lm as unknown as ChatProviders).registerLanguageModelChatProvider(vendor, {
    provideLanguageModelChatInformation: () => Promise.resolve([about]),
    provideTokenCount: () => Promise.resolve(1),
    provideLanguageModelChatResponse(
      _model: unknown,
      messages: readonly Message[],
      _options: unknown,
      progress: { report(part: unknown): void },
    ) {
      const heard = resultsIn(messages);
      const at = messages.filter(({ content }) => content.some(isCall)).length;
      const prompt = (messages[0]?.content ?? []).map(textOf).join('');
      const step = script(prompt)[at] ?? { say: 'The script is over.' };
      if ('say' in step) progress.report(new vscode.LanguageModelTextPart(step.say));
      else {
        for (const [index, { tool, input }] of ('calls' in step ? step.calls : [step]).entries()) {
          const id = `call-${at}-${index}`;
          const filledIn = fillIn(input, heard);
          progress.report(new vscode.LanguageModelToolCallPart(id, tool, filledIn));
        }
      }
      return Promise.resolve();
    },
  });
}

const isCall = (part: unknown): boolean => part instanceof vscode.LanguageModelToolCallPart;

function resultsIn(messages: readonly Message[]): string[] {
  return messages
    .flatMap(({ content }) => content)
    .filter((part) => part instanceof vscode.LanguageModelToolResultPart)
    .map(({ content }) => content.map(textOf).join(''));
}

export function textOf(part: unknown): string {
  return part instanceof vscode.LanguageModelTextPart ? part.value : '';
}
