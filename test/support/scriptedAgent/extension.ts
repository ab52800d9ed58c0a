import * as vscode from 'vscode';
import { registerModel, textOf } from './model';
import type { Step } from './script';

const VENDOR = 'holdfast-script';

/** A model that follows a script, and an agent that lets it: no account, no network. The test speaks to it by commands. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  let script: readonly Step[] = [];
  const heard: string[] = [];
  context.subscriptions.push(
    registerModel(VENDOR, () => script),
    vscode.chat.createChatParticipant(
      'holdfast-tests.agent',
      async (request, _chat, stream, token) => {
        await act(request, stream, token, (text) => heard.push(text));
      },
    ),
    vscode.commands.registerCommand('holdfast-tests.script', (steps: readonly Step[]) => {
      script = steps;
      heard.length = 0;
    }),
    // What the tools have told the model since the script was set.
    vscode.commands.registerCommand('holdfast-tests.heard', () => heard),
  );
  await vscode.lm.selectChatModels({ vendor: VENDOR });
}

/** The loop of an agent: ask the model, call the tools that it wants, tell it what they said, until it only talks. */
async function act(
  request: vscode.ChatRequest,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
  hear: (text: string) => void,
): Promise<void> {
  const messages = [vscode.LanguageModelChatMessage.User(request.prompt)];
  const tools = vscode.lm.tools
    .filter(({ name }) => name.startsWith('holdfast_'))
    .map(({ name, description }) => ({ name, description }));
  for (;;) {
    const response = await request.model.sendRequest(messages, { tools }, token);
    const calls: vscode.LanguageModelToolCallPart[] = [];
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) stream.markdown(part.value);
      if (part instanceof vscode.LanguageModelToolCallPart) calls.push(part);
    }
    if (calls.length === 0) return;
    const results: vscode.LanguageModelToolResultPart[] = [];
    for (const { name, input, callId } of calls) {
      const text = await invoke(name, input, request.toolInvocationToken, token);
      hear(text);
      const content = [new vscode.LanguageModelTextPart(text)];
      results.push(new vscode.LanguageModelToolResultPart(callId, content));
    }
    messages.push(
      vscode.LanguageModelChatMessage.Assistant(calls),
      vscode.LanguageModelChatMessage.User(results),
    );
  }
}

async function invoke(
  name: string,
  input: object,
  toolInvocationToken: vscode.ChatParticipantToolToken,
  token: vscode.CancellationToken,
): Promise<string> {
  try {
    const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken }, token);
    return result.content.map(textOf).join('');
  } catch (error) {
    // As agents do: a model reads what went wrong, and goes on.
    return `ERROR ${error instanceof Error ? error.message : String(error)}`;
  }
}
