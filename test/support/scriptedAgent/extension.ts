import * as vscode from 'vscode';
import { registerModel, textOf } from './model';
import type { Script, Step } from './script';

const VENDOR = 'holdfast-script';

/** A model that follows a script, and an agent that lets it: no account, no network. The test speaks to it by commands. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const scripts = new Map<string | undefined, readonly Step[]>();
  const scriptOf = (prompt: string): readonly Step[] =>
    scripts.get(prompt) ?? scripts.get(undefined) ?? [];
  const heard = new Map<string, string[]>();
  context.subscriptions.push(
    registerModel(VENDOR, scriptOf),
    vscode.chat.createChatParticipant(
      'holdfast-tests.agent',
      async (request, _chat, stream, token) => {
        const { prompt } = request;
        heard.set(prompt, []);
        await act(request, stream, token, (text) => heard.get(prompt)?.push(text));
      },
    ),
    vscode.commands.registerCommand('holdfast-tests.script', ({ steps, prompt }: Script) => {
      scripts.set(prompt, steps);
      heard.clear();
    }),
    // What the tools have told the model since a script was set: in requests with a prompt, or in all.
    vscode.commands.registerCommand('holdfast-tests.heard', (prompt?: string) =>
      [...heard].flatMap(([asked, texts]) => (asked === (prompt ?? asked) ? texts : [])),
    ),
  );
  await vscode.lm.selectChatModels({ vendor: VENDOR });
}

/** The loop of an agent: ask the model, call the tools that it wants, all at once, tell it what they said, until it only talks. */
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
    const told = await Promise.all(
      calls.map(({ name, input }) => invoke(name, input, request, token)),
    );
    told.forEach(hear);
    const results = calls.map(({ callId }, index) => {
      const content = [new vscode.LanguageModelTextPart(told[index] ?? '')];
      return new vscode.LanguageModelToolResultPart(callId, content);
    });
    messages.push(
      vscode.LanguageModelChatMessage.Assistant(calls),
      vscode.LanguageModelChatMessage.User(results),
    );
  }
}

async function invoke(
  name: string,
  input: object,
  request: vscode.ChatRequest,
  token: vscode.CancellationToken,
): Promise<string> {
  const { toolInvocationToken } = request;
  // As the editor's own agent does, by a proposed API.
  const { id } = request as vscode.ChatRequest & { readonly id: string };
  const options = { input, toolInvocationToken, chatRequestId: id };
  try {
    const result = await vscode.lm.invokeTool(name, options, token);
    return result.content.map(textOf).join('');
  } catch (error) {
    // As agents do: a model reads what went wrong, and goes on.
    return `ERROR ${error instanceof Error ? error.message : String(error)}`;
  }
}
