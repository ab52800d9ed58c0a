import { describe, expect, it } from 'vitest';
import { chatOwnedBy, nameOfChat } from '../../../src/editor/agent/chat';
import { chatOf, requestOf } from '../../../src/editor/agent/chatIdentity';
import { titleIn } from '../../../src/editor/agent/chatTitle';

const id = 'abbe030a-7730-44d5-bc68-c4776dc129b9';
const resource = {
  scheme: 'vscode-chat-session',
  authority: 'local',
  path: `/${Buffer.from(id).toString('base64url')}`,
};

describe('the chat behind a call', () => {
  it.each([
    ['a request or a token', { sessionResource: resource }],
    ['what prepares a call', { chatSessionResource: resource }],
    ['a token of an older editor', { sessionId: id }],
  ])('is told by %s', (_what, carrier) => {
    expect(chatOf(carrier)).toEqual({ ownerId: `chat:${id}`, sessionId: id });
  });

  it('that another provider keeps is known by its whole address', () => {
    const sessionResource = { scheme: 'cloud-agent', authority: 'runs', path: '/42' };
    expect(chatOf({ sessionResource }).sessionId).toBe('cloud-agent://runs/42');
  });

  it.each([
    [undefined],
    ['token'],
    [{}],
    [{ sessionResource: 'chat' }],
    [{ sessionResource: { scheme: 'vscode-chat-session' } }],
    [{ sessionId: '' }],
    [{ sessionId: 'x'.repeat(1_000) }],
  ])('that %j does not tell is one of the chats of the window', (carrier) => {
    expect(chatOf(carrier)).toEqual({ ownerId: 'chat:unknown', sessionId: undefined });
  });

  it('has requests, by which what prepares a call can be told apart where the editor says so', () => {
    expect(requestOf({ chatRequestId: 'request_1', input: {} })).toBe('request_1');
    expect([{}, { chatRequestId: 1 }, undefined].map(requestOf)).toEqual(Array(3).fill(undefined));
  });

  it('has a short name where it has no title, and the owner leads back to it', () => {
    expect(nameOfChat(`chat:${id}`)).toBe('Chat c129b9');
    expect(nameOfChat('chat:unknown')).toBe('Chats');
    expect(nameOfChat('window:1')).toBeUndefined();
    expect(chatOwnedBy(`chat:${id}`)?.sessionId).toBe(id);
    expect(chatOwnedBy('chat:unknown')).toBeUndefined();
  });
});

describe('the title of a chat', () => {
  const first = (text: string) => ({ message: { text } });
  const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

  it('is how its first request begins, until it is given one', () => {
    const begun = line({ kind: 0, v: { requests: [first('fit the\nmodel'), first('more')] } });
    expect(titleIn(begun)).toBe('fit the model');
    const named = line({ kind: 1, k: ['customTitle'], v: 'Fitting' });
    expect(titleIn(begun + named)).toBe('Fitting');
    expect(titleIn(line({ kind: 0, v: { customTitle: 'Plots', requests: [] } }))).toBe('Plots');
  });

  it('comes with the request that is added to an empty chat', () => {
    const empty = line({ kind: 0, v: { requests: [] } });
    const added = line({ kind: 2, k: ['requests'], v: [first('hello')] });
    expect(titleIn(empty + added)).toBe('hello');
  });

  it('is short, and on one line', () => {
    const title = titleIn(line({ kind: 0, v: { requests: [first('a '.repeat(100))] } }));
    expect(title).toHaveLength(40);
    expect(title?.endsWith('…')).toBe(true);
  });

  it.each(['', 'nonsense', '{"requests"', '{"kind":0}', '{"kind":0,"v":{"requests":[7]}}', '[]'])(
    'is not told by %j',
    (file) => expect(titleIn(file)).toBeUndefined(),
  );
});
