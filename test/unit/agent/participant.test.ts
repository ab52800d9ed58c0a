import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../../src/base/errors';
import { chatWithId } from '../../../src/editor/agent/chat';
import { answer, type ParticipantParts } from '../../../src/editor/agent/participant';
import type { RunRequest } from '../../../src/editor/runs';
import type { ExecutionResult } from '../../../src/pool/types';
import { resultOf } from '../../support/executionResult';

async function ask(
  prompt: string,
  perform: (request: RunRequest) => ExecutionResult = () => resultOf(),
  more: Partial<ParticipantParts> = {},
): Promise<{ said: string; ran: RunRequest[]; progress: string[] }> {
  const ran: RunRequest[] = [];
  const said: string[] = [];
  const progress: string[] = [];
  await answer(
    {
      runs: {
        perform(request) {
          ran.push(request);
          return Promise.resolve(perform(request));
        },
      },
      chats: { begin: () => Promise.resolve({ dispose() {} }) },
      assertAllowed() {},
      developersPlace: () => ({ document: '', folder: '/w' }),
      labelOfPlace: () => 'w',
      learnName: () => Promise.resolve(),
      ownerName: () => 'Chat',
      ...more,
    },
    { chat: chatWithId('me'), prompt },
    {
      markdown: (text: string) => void said.push(text),
      progress: (text: string) => void progress.push(text),
      button() {},
    },
    new AbortController().signal,
  );
  return { said: said.join(''), ran, progress };
}

describe('@holdfast', () => {
  it("runs a fenced block in the developer's session, as its chat, for the person who typed it", async () => {
    const { said, ran, progress } = await ask('please\n```python\nx + 1\n```', (request) => {
      request.onOutput?.({ type: 'result', data: { 'text/plain': '```21```' } });
      return resultOf();
    });
    expect(ran).toMatchObject([
      { code: 'x + 1', to: { folder: '/w' }, by: { ownerId: 'chat:me', origin: 'person' } },
    ]);
    expect(progress).toEqual(['Running in w…']);
    expect(said).toBe('````\n```21```\n````\n\n\n');
  });

  it('runs several in order, and stops at the first that fails', async () => {
    const prompt = '```\na\n```\n```\nb\n```\n```\nc\n```';
    const { said, ran } = await ask(prompt, ({ code }) =>
      resultOf({ exitCode: code === 'b' ? 1 : 0 }),
    );
    expect(ran.map(({ code }) => code)).toEqual(['a', 'b']);
    expect(said).toContain('It ended with an error.');
  });

  it('says what it does where there is no code, and what it cannot run', async () => {
    expect((await ask('hello')).said).toContain('Put the code into a fenced block');
    const { said, ran } = await ask('```\na\n```\n```bash\nls\n```');
    expect(said).toContain('I run no bash here');
    expect(ran).toEqual([]);
  });

  it('says why nothing runs in a workspace that is not trusted', async () => {
    const { said, ran } = await ask('```\na\n```', undefined, {
      assertAllowed() {
        throw new HoldfastError('untrusted_workspace', 'Trust it to run code here.');
      },
    });
    expect(said).toContain('Trust it to run code here');
    expect(ran).toEqual([]);
  });
});
