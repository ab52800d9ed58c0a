import { describe, expect, it } from 'vitest';
import { DisposableStore } from '../../../src/base/disposable';
import { silentLog } from '../../../src/base/log';
import { followUnloading } from '../../../src/editor/agent/unloading';

const refuse = (): never => {
  throw new Error("Extension 'holdfast.holdfast' CANNOT use API proposal: chatParticipantPrivate.");
};

describe('word of unloaded chats', () => {
  it('comes where the editor grants the proposal, until it is disposed', () => {
    const told: string[] = [];
    const listeners = new Set<(id: unknown) => void>();
    const chat = {
      onDidDisposeChatSession(listener: (id: unknown) => void) {
        listeners.add(listener);
        return { dispose: () => listeners.delete(listener) };
      },
    };
    const store = new DisposableStore();
    followUnloading(chat, (id) => told.push(id), silentLog, store);
    for (const listener of listeners) for (const id of ['a', 7, undefined]) listener(id);
    expect(told).toEqual(['a']);
    store.dispose();
    expect(listeners.size).toBe(0);
  });

  it.each<[string, object]>([
    ['there is no such event', {}],
    [
      'reading it is refused',
      Object.defineProperty({}, 'onDidDisposeChatSession', { get: refuse }),
    ],
    ['subscribing is refused', { onDidDisposeChatSession: refuse }],
  ])('is done without where %s', (_what, chat) => {
    const store = new DisposableStore();
    expect(() => followUnloading(chat, refuse, silentLog, store)).not.toThrow();
  });
});
