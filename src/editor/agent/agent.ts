import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Clock } from '../../base/clock';
import { DisposableStore, type Disposable } from '../../base/disposable';
import type { Configuration } from '../configuration';
import { activePython, placeOf } from '../place';
import type { Place, Runs } from '../runs';
import { folderName, type SessionBook } from '../sessions/sessionBook';
import type { SessionsModel } from '../sessions/sessionsModel';
import { assertTrusted } from '../trust';
import { AgentRuns } from './agentRuns';
import type { Chat } from './chat';
import { chatOf, requestOf } from './chatIdentity';
import type { ChatFiles } from './chatFiles';
import type { ChatNames } from './chatNames';
import type { ChatOwners } from './chatOwners';
import { titleIn } from './chatTitle';
import { answer } from './participant';
import { answerLimit } from './report';
import { signalOf } from './signal';
import { AgentTools } from './tools';

export interface AgentParts {
  readonly clock: Clock;
  readonly runs: Runs;
  readonly chats: ChatOwners;
  readonly model: Pick<SessionsModel, 'sessions' | 'waiterFor'>;
  readonly book: SessionBook;
  readonly configuration: Configuration;
  readonly names: ChatNames;
  readonly files: Pick<ChatFiles, 'read'>;
  ownerName(ownerId: string): string;
}

/** What answers language models and `@holdfast`. */
export interface Agent extends Disposable {
  /** Learns what a chat is called by now. */
  learnName(chat: Chat): Promise<void>;
  readonly runCode: Required<vscode.LanguageModelTool<unknown>>;
  readonly readOutput: Required<vscode.LanguageModelTool<unknown>>;
  readonly participant: vscode.ChatRequestHandler;
}

export function createAgent(parts: AgentParts): Agent {
  const { clock, runs, chats, model, book, configuration, ownerName } = parts;
  const store = new DisposableStore();
  const newHandle = (): string => `run_${randomUUID().slice(0, 8)}`;
  const waitsForSlot = (key: string): boolean => model.waiterFor(key) !== undefined;
  const agentRuns = new AgentRuns({ clock, runs, newHandle, waitsForSlot });
  store.add(
    chats.onDidClose((ownerId) => {
      agentRuns.forget(ownerId);
      parts.names.forget(ownerId);
    }),
  );
  const shared = {
    chats,
    ownerName,
    assertAllowed: assertTrusted,
    developersPlace,
    async learnName({ sessionId }: Chat): Promise<void> {
      const text = sessionId === undefined ? undefined : await parts.files.read(sessionId);
      if (sessionId !== undefined && text !== undefined)
        parts.names.entitle(sessionId, titleIn(text));
    },
    labelOfPlace: (place: Place) =>
      book.current(place.document, place.folder)?.label ?? folderName(place.folder),
  };
  const tools = new AgentTools({
    ...shared,
    clock,
    agentRuns,
    sessions: () => model.sessions(),
    labelOf: (session) => book.labelOf(session),
    current: ({ document, folder }) => book.current(document, folder),
  });

  /** A call of a tool, from what the editor says of it to what the editor takes. */
  const call = async (
    act: 'runCode' | 'readOutput',
    {
      input,
      toolInvocationToken,
      tokenizationOptions,
    }: vscode.LanguageModelToolInvocationOptions<unknown>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> => {
    const { signal, dispose } = signalOf(token);
    try {
      const limit = answerLimit(
        configuration.get('maxOutputBytes'),
        tokenizationOptions?.tokenBudget,
      );
      const text = await tools[act](chatOf(toolInvocationToken), input, { signal, limit });
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
    } finally {
      dispose();
    }
  };

  return {
    learnName: shared.learnName,
    runCode: {
      prepareInvocation(options) {
        const { title, message } = tools.confirm({
          chat: chatOf(options),
          request: requestOf(options),
          input: options.input,
        });
        return {
          invocationMessage: 'Running code in Holdfast',
          confirmationMessages: { title, message: new vscode.MarkdownString(message) },
        };
      },
      invoke: (options, token) => call('runCode', options, token),
    },
    readOutput: {
      prepareInvocation: () => ({ invocationMessage: 'Reading the output of a run' }),
      invoke: (options, token) => call('readOutput', options, token),
    },
    async participant(request, _context, stream, token) {
      const { signal, dispose } = signalOf(token);
      try {
        await answer(
          { ...shared, runs },
          { chat: chatOf(request), prompt: request.prompt },
          stream,
          signal,
        );
      } finally {
        dispose();
      }
    },
    dispose: () => store.dispose(),
  };
}

/** That of the Python file a person is in, or has in sight while typing in a chat. */
function developersPlace(): Place {
  const { visibleTextEditors } = vscode.window;
  const inSight = visibleTextEditors.find(({ document }) => document.languageId === 'python');
  return placeOf((activePython() ?? inSight)?.document);
}
