import { describe, expect, it } from 'vitest';
import { deferred, type Deferred } from '../../../src/base/deferred';
import { HoldfastError } from '../../../src/base/errors';
import { AgentRuns, type AgentRunsParts } from '../../../src/editor/agent/agentRuns';
import { chatWithId, someChat, type Chat } from '../../../src/editor/agent/chat';
import { answerLimit } from '../../../src/editor/agent/report';
import { AgentTools, type AgentToolsParts } from '../../../src/editor/agent/tools';
import type { ActiveRun, RunRequest } from '../../../src/editor/runs';
import type { KernelOutput } from '../../../src/kernel/output';
import type { ExecutionResult } from '../../../src/pool/types';
import { resultOf } from '../../support/executionResult';
import { flush, ManualClock } from '../../support/manualClock';

const me = chatWithId('me');
const place = { document: 'file:///w/a.py', folder: '/w' };

const callOf = (input: object) => ({ chat: me, request: 'r1', input });

interface Sent {
  readonly request: RunRequest;
  readonly result: Deferred<ExecutionResult>;
  print(text: string): void;
  start(): void;
  ask(prompt: string): void;
}

/** Runs whose kernel the test plays: a run is in line until it is started, and over when its result is there. */
function setUp(parts: Partial<AgentToolsParts> = {}) {
  const clock = new ManualClock();
  const sent: Sent[] = [];
  const active: ActiveRun[] = [];
  const runs: AgentRunsParts['runs'] = {
    async perform(request, onBegun) {
      await Promise.resolve();
      const executionId = `e${sent.length}`;
      active.push({
        executionId,
        sessionKey: 'k',
        sessionLabel: 'w',
        firstLine: request.code,
        source: undefined,
        ownerId: request.by?.ownerId ?? '',
        inOwnKernel: false,
        startedAt: undefined,
      });
      onBegun?.(executionId);
      const result = deferred<ExecutionResult>();
      const find = (): number => active.findIndex((run) => run.executionId === executionId);
      sent.push({
        request,
        result,
        print: (text) =>
          request.onOutput?.({ type: 'stream', name: 'stdout', text } as KernelOutput),
        start: () => (active[find()] = { ...active[find()]!, startedAt: clock.now() }),
        ask: (asks) => (active[find()] = { ...active[find()]!, asks }),
      });
      return result.promise.finally(() => active.splice(find(), 1));
    },
    get: (id) => active.find(({ executionId }) => executionId === id),
    inSession: () => active,
  };
  let handles = 0;
  const agentRuns = new AgentRuns({
    clock,
    runs,
    waitsForSlot: () => false,
    newHandle: () => `run_${++handles}`,
  });
  const tools = new AgentTools({
    clock,
    agentRuns,
    chats: { begin: () => Promise.resolve({ dispose() {} }), seen() {} },
    assertAllowed() {},
    sessions: () => [],
    labelOf: () => 'w',
    current: () => undefined,
    developersPlace: () => place,
    labelOfPlace: ({ folder }) => folder.slice(1),
    learnName: () => Promise.resolve(),
    ownerName: (id) => id,
    ...parts,
  });
  const options = { signal: new AbortController().signal, limit: 1_000 };
  const run = (input: object, chat = me, signal = options.signal): Promise<string> =>
    tools.runCode(chat, { code: 'work()', language: 'python', ...input }, { ...options, signal });
  const read = (input: object, chat = me): Promise<string> =>
    tools.readOutput(chat, input, options);
  return { clock, tools, sent, run, read, agentRuns };
}

describe('an agent', () => {
  it('vscode-jupyter 17119: gets a handle and the partial output when its wait passes, the rest later', async () => {
    const { clock, sent, run, read } = setUp();
    const answer = run({ waitSeconds: 5 });
    await flush();
    sent[0]!.start();
    sent[0]!.print('step 1\n');
    await clock.advance(5_000);
    expect(await answer).toMatch(
      /^Session "w"\. Still running, for 5\.0 s\.\nOutput:\nstep 1\n\nIt goes on\. Its handle is "run_1"/,
    );
    await clock.advance(590_000);
    sent[0]!.print('step 2\n');
    const later = read({ handle: 'run_1', waitSeconds: 60 });
    await clock.advance(5_000);
    sent[0]!.result.resolve(resultOf());
    expect(await later).toBe(
      'Done after 10 min 0 s, exit code 0.\nOutput, from character 7 on:\nstep 2',
    );
    expect(await read({ handle: 'run_1' })).toContain('No new output.');
    expect(await read({ handle: 'run_1', from: 0 })).toContain('Output:\nstep 1\nstep 2');
  });

  it('jupyter-mcp-server 249: a 10-minute run: handle, then result', async () => {
    const { clock, sent, run, read } = setUp();
    const answer = run({});
    await flush();
    sent[0]!.start();
    await clock.advance(30_000);
    expect(await answer).toContain('Its handle is "run_1"');
    const waits: Promise<string> = read({ handle: 'run_1', waitSeconds: 600 });
    await clock.advance(569_000);
    sent[0]!.print('42\n');
    sent[0]!.result.resolve(resultOf());
    expect(await waits).toMatch(/^Done after 9 min 59 s.*\nOutput:\n42$/);
  });

  it('jupyter-mcp-server 307: a call whose wait is over goes on, and the second queues', async () => {
    const { clock, sent, run } = setUp();
    const first = run({ waitSeconds: 1 });
    await flush();
    sent[0]!.start();
    await clock.advance(1_000);
    await first;
    expect(sent[0]!.request.signal?.aborted).toBe(false);
    const second = run({ waitSeconds: 1 });
    await flush();
    await clock.advance(1_000);
    expect(await second).toContain('Not started yet: 1 run of the session before it.');
    expect(sent[1]!.request.signal?.aborted).toBe(false);
  });

  it('runs as its chat, which the host tells, and by a tool, with its own limit on the run', async () => {
    const { sent, run } = setUp();
    const answer = run({ timeoutSeconds: 9 });
    await flush();
    const { request } = sent[0]!;
    expect(request.by).toEqual({ ownerId: 'chat:me', origin: 'tool', name: 'chat:me' });
    expect(request).toMatchObject({ timeoutMs: 9_000, to: place, code: 'work()' });
    const notes = ['Timed out after 9 seconds.'];
    sent[0]!.result.resolve(resultOf({ cancelled: true, exitCode: undefined, notes }));
    expect(await answer).toMatch(
      /Cancelled after .*\nNote: Timed out after 9 seconds\.\nNo output\.$/,
    );
  });

  it('is told why a kernel is new, and how a run ended that failed', async () => {
    const { sent, run } = setUp();
    const answer = run({});
    await flush();
    sent[0]!.print('Traceback\nNameError: x\n');
    sent[0]!.result.resolve(resultOf({ exitCode: 1, notes: ['This kernel is new: it died.'] }));
    expect(await answer).toMatch(
      /Ended with an error after .*exit code 1\.\nNote: This kernel is new: it died\.\nOutput:\nTraceback\nNameError: x$/,
    );
  });

  it('is told that its code asks for input, which a person can give', async () => {
    const { clock, sent, run } = setUp();
    const answer = run({ waitSeconds: 1 });
    await flush();
    sent[0]!.start();
    sent[0]!.ask('Who? ');
    await clock.advance(1_000);
    expect(await answer).toContain(
      'Still running, for 1.0 s. It asks for input ("Who?"), which a person gives in the Holdfast panel.\nNo output.',
    );
  });

  it('is told that its code did not run, and why', async () => {
    const { sent, run } = setUp();
    const answer = run({});
    await flush();
    sent[0]!.result.reject(new HoldfastError('interpreter_not_found', 'There is no Python here.'));
    expect(await answer).toContain('Not run: There is no Python here.');
  });

  it('gets beginning and end of a long output, and reads what is between', async () => {
    const { sent, run, read } = setUp();
    const answer = run({});
    await flush();
    for (let line = 0; line < 500; line++) sent[0]!.print(`line ${line}\n`);
    sent[0]!.result.resolve(resultOf());
    const text = await answer;
    expect(text.length).toBeLessThan(1_500);
    expect(text).toContain('\nline 0\n');
    expect(text).toContain('\nline 499\n');
    const from = Number(/"from": (\d+)/.exec(text)?.[1]);
    const page = await read({ handle: 'run_1', from });
    expect(page).toMatch(/Output, from character \d+ on:\nline 3\d\n[^]*more from \d+ on\]/);
  });

  it('that is stopped while it waits has its run stopped', async () => {
    const { sent, run } = setUp();
    const stop = new AbortController();
    const answer = run({}, me, stop.signal);
    await flush();
    stop.abort();
    await answer;
    expect(sent[0]!.request.signal?.aborted).toBe(true);
  });

  it('reads no run of another chat, nor one that is forgotten with its chat', async () => {
    const { sent, run, read, agentRuns } = setUp();
    const answer = run({});
    await flush();
    sent[0]!.result.resolve(resultOf());
    await answer;
    const refused = { code: 'run_not_found' };
    await expect(read({ handle: 'run_1' }, chatWithId('other'))).rejects.toMatchObject(refused);
    agentRuns.forget('chat:me');
    await expect(read({ handle: 'run_1' })).rejects.toMatchObject(refused);
  });

  it('is refused in a workspace that is not trusted, before anybody is asked', async () => {
    const { tools, run, sent } = setUp({
      assertAllowed() {
        throw new HoldfastError('untrusted_workspace', 'Not trusted.');
      },
    });
    const input = { code: 'x', language: 'python' };
    expect(() => tools.confirm(callOf(input))).toThrow('Not trusted.');
    await expect(run({})).rejects.toMatchObject({ code: 'untrusted_workspace' });
    expect(sent).toEqual([]);
  });

  it('runs where the person has confirmed it, whatever file is active by then', async () => {
    let folder = '/w';
    const { tools, sent } = setUp({ developersPlace: () => ({ document: '', folder }) });
    const input = { code: 'x', language: 'python' };
    expect(tools.confirm(callOf(input)).message).toContain('It runs in **w**, a new session');
    folder = '/elsewhere';
    const options = { signal: new AbortController().signal, limit: 1_000 };
    void tools.runCode(me, input, options);
    void tools.runCode(me, input, options);
    await flush();
    expect(sent.map(({ request }) => request.to)).toMatchObject([
      { folder: '/w' },
      { folder: '/elsewhere' },
    ]);
  });
});

describe('the length of an answer', () => {
  it('is bounded by the setting, by what the model can take, and by itself', () => {
    expect(answerLimit(50_000, undefined)).toBe(20_000);
    expect(answerLimit(5_000, undefined)).toBe(5_000);
    expect(answerLimit(50_000, 1_000)).toBe(3_000);
    expect(answerLimit(0, 0)).toBe(500);
  });
});

describe('what was confirmed', () => {
  const input = { code: 'work()', language: 'python' };

  function shown() {
    const at = { folder: '' };
    const developersPlace = () => ({ document: 'file:///x.py', ...at });
    const { tools, sent, run } = setUp({ developersPlace });
    /** The session that a person is shown, whose active file is in the folder. */
    const confirm = (folder: string, request?: string, chat = me): string | undefined => {
      at.folder = folder;
      const { message } = tools.confirm({ chat, request, input });
      const session = /in \*\*(\w+)\*\*/.exec(message)?.[1];
      const isWhatIsMeant = `/${session}` === folder;
      expect(message.includes(`by now **${folder.slice(1)}** would be meant`)).toBe(!isWhatIsMeant);
      return session;
    };
    /** Where calls run that come when another file is active. */
    const places = async (...chats: Chat[]): Promise<unknown[]> => {
      at.folder = '/later';
      const before = sent.length;
      for (const chat of chats) void run({}, chat);
      await flush();
      return sent.slice(before).map(({ request: { to } }) => 'folder' in to && to.folder);
    };
    return { confirm, places };
  }

  it('is what runs, for each chat, though their code is the same', async () => {
    const { confirm, places } = shown();
    const other = chatWithId('other');
    expect(confirm('/a', 'r1')).toBe('a');
    expect(confirm('/b', 'r2', other)).toBe('b');
    expect(await places(other, me, me)).toEqual(['/b', '/a', '/later']);
  });

  it('is what runs of two calls at once, whichever of them is refused: both are shown one session', async () => {
    const { confirm, places } = shown();
    expect(confirm('/a', 'r1')).toBe('a');
    expect(confirm('/b', 'r1')).toBe('a');
    expect(await places(me, me)).toEqual(['/a', '/a']);
    expect(confirm('/b', 'r1')).toBe('b');
  });

  it('is never the session of a call that was refused before, in this request or an earlier one', async () => {
    const { confirm, places } = shown();
    confirm('/a', 'r1');
    expect(confirm('/b', 'r2')).toBe('b');
    expect(await places(me)).toEqual(['/b']);
    confirm('/a', 'r3');
    expect(confirm('/b', 'r3')).toBe('a');
    expect(await places(me)).toEqual(['/a']);
  });

  it('is what is shown where the editor tells no requests either', async () => {
    const { confirm, places } = shown();
    confirm('/a');
    expect(confirm('/b')).toBe('a');
    expect(await places(me)).toEqual(['/a']);
  });

  it('is what runs where the editor tells whose call it is only when it comes', async () => {
    const { confirm, places } = shown();
    expect(confirm('/a', undefined, someChat)).toBe('a');
    expect(await places(me, me)).toEqual(['/a', '/later']);
  });
});
