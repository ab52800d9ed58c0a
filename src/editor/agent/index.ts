import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { lazy } from '../../base/lazy';
import type { Log } from '../../base/log';
import type { Configuration } from '../configuration';
import type { SessionsModel } from '../sessions/sessionsModel';
import type { Agent, AgentParts } from './agent';
import { chatOwnedBy, chatWithId, type Chat } from './chat';
import { ChatFiles, chatFolder } from './chatFiles';
import { followUnloading } from './unloading';

const RUN_CODE = 'holdfast_run_code';
const READ_OUTPUT = 'holdfast_read_output';
const PARTICIPANT = 'holdfast.participant';

interface AgentRegistrationParts extends Omit<AgentParts, 'configuration' | 'files' | 'model'> {
  readonly model: Pick<SessionsModel, 'sessions' | 'waiterFor' | 'onDidChange'>;
  readonly storage: Pick<vscode.ExtensionContext, 'storageUri' | 'globalStorageUri'>;
  readonly log: Log;
  configuration(): Promise<Configuration>;
}

/**
 * Offers tools to language models and `@holdfast` to people, and follows what becomes of chats. What answers is loaded with
 * the first call. Editors without chat get nothing.
 */
export function registerAgent(parts: AgentRegistrationParts): Disposable {
  const { chats, model, storage, log } = parts;
  const store = new DisposableStore();
  const agent = lazy(async (): Promise<Agent> => {
    const [{ createAgent }, configuration] = await Promise.all([
      import('./agent'),
      parts.configuration(),
    ]);
    return store.add(createAgent({ ...parts, configuration, files: files() }));
  });
  const learnName = (chat: Chat): void => {
    agent()
      .then((loaded) => loaded.learnName(chat))
      .catch((error: unknown) => log.warn(`A chat's title can't be read: ${messageOf(error)}`));
  };
  const holders = (): Chat[] =>
    model
      .sessions()
      .flatMap(({ owners }) => owners.map(({ id }) => chatOwnedBy(id)))
      .filter((chat) => chat !== undefined);
  const files = lazy(() =>
    store.add(
      new ChatFiles(chatFolder(storage), {
        onAppeared: () => holders().forEach(learnName),
        onWritten(sessionId) {
          const chat = chatWithId(sessionId);
          if (chats.knows(chat.ownerId)) learnName(chat);
        },
        onDeleted: (sessionId) => chats.deleted(sessionId),
      }),
    ),
  );
  // Also those that held a session in the window before this one.
  const seen = new Set<string>();
  store.add(
    model.onDidChange(() => {
      for (const chat of holders()) {
        if (!seen.has(chat.ownerId)) learnName(chat);
        seen.add(chat.ownerId);
      }
    }),
  );
  // Older editors, and those made from them, may lack either.
  const { lm, chat } = vscode as Partial<typeof vscode>;
  if (typeof lm?.registerTool === 'function') store.add(registerTools(lm, agent));
  if (typeof chat?.createChatParticipant === 'function') {
    const participant = store.add(
      chat.createChatParticipant(PARTICIPANT, async (...request) =>
        (await agent()).participant(...request),
      ),
    );
    participant.iconPath = new vscode.ThemeIcon('debug-console');
    followUnloading(chat, (sessionId) => void chats.unloaded(sessionId), log, store);
  }
  return store;
}

function registerTools(lm: typeof vscode.lm, agent: () => Promise<Agent>): Disposable {
  return vscode.Disposable.from(
    lm.registerTool<unknown>(RUN_CODE, {
      prepareInvocation: async (options, token) =>
        (await agent()).runCode.prepareInvocation(options, token),
      invoke: async (options, token) => (await agent()).runCode.invoke(options, token),
    }),
    lm.registerTool<unknown>(READ_OUTPUT, {
      prepareInvocation: async (options, token) =>
        (await agent()).readOutput.prepareInvocation(options, token),
      invoke: async (options, token) => (await agent()).readOutput.invoke(options, token),
    }),
  );
}
