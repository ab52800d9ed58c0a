import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { silentLog } from '../../src/base/log';
import { AgentRuns } from '../../src/editor/agent/agentRuns';
import { chatWithId } from '../../src/editor/agent/chat';
import { AgentTools } from '../../src/editor/agent/tools';
import { Door } from '../../src/editor/door';
import { createTranscript } from '../../src/editor/panel/transcript';
import { Runs } from '../../src/editor/runs';
import { sessionKeyOf, type SessionTarget } from '../../src/editor/sessions/target';
import { ManualClock } from '../support/manualClock';
import { hostingForTest, temporaryFolder } from './support/hosting';
import { poolForTest } from './support/pool';

// Agents on real kernels, by a clock that the test moves: what takes ten minutes does not take the test as long.

const MINUTE = 60_000;
const patience = { timeout: 20_000, interval: 10 };

/** A chat whose code runs in a real kernel, which goes on when the test says so. */
async function chatOnKernel() {
  const { hosting } = hostingForTest();
  const { pool } = poolForTest({ hosting: () => hosting });
  const clock = new ManualClock();
  const target: SessionTarget = {
    ...{ language: 'python', sessionId: 'python:shared', cwd: os.tmpdir(), label: 'shared' },
    interpreter: undefined,
  };
  const door = new Door({
    execute: (code, options) => pool.execute(code, options),
    disposers: [],
    isStreaming: () => false,
    record() {},
    log: silentLog,
  });
  let executions = 0;
  const runs = new Runs({
    ...{ ownerId: 'window:me', clock, door, transcript: createTranscript() },
    newId: () => `e${++executions}`,
    assertAllowed() {},
    resolve: () => Promise.resolve(target),
    mode: () => Promise.resolve('session'),
    onBegin() {},
    onFailure() {},
  });
  let handles = 0;
  const newHandle = (): string => `run_${++handles}`;
  const agentRuns = new AgentRuns({ clock, runs, newHandle, waitsForSlot: () => false });
  const tools = new AgentTools({
    ...{ clock, agentRuns },
    chats: { begin: () => Promise.resolve({ dispose() {} }), seen() {} },
    assertAllowed() {},
    sessions: () => pool.sessions(),
    labelOf: () => target.label,
    current: () => target,
    developersPlace: () => ({ document: '', folder: target.cwd }),
    labelOfPlace: () => target.label,
    learnName: () => Promise.resolve(),
    ownerName: (id) => id,
  });
  const folder = temporaryFolder();
  const options = { signal: new AbortController().signal, limit: 1_000 };
  return {
    clock,
    /** Code that waits until the test lets it go. */
    until: (name: string) =>
      `import os, time\nwhile not os.path.exists(${JSON.stringify(path.join(folder, name))}): time.sleep(0.01)\n`,
    letGo: (name: string) => fs.writeFileSync(path.join(folder, name), ''),
    run: (code: string, more: object = {}) =>
      tools.runCode(chatWithId('me'), { code, language: 'python', ...more }, options),
    read: (input: object) => tools.readOutput(chatWithId('me'), input, options),
    /** Resolves once this much of a run's output is there. */
    hasPut: (handle: string, characters: number) =>
      expect
        .poll(() => agentRuns.get('chat:me', handle).output.length, patience)
        .toBeGreaterThanOrEqual(characters),
    /** Resolves once the runs in line are so many, and the first of them is in the kernel. */
    inLine: (count: number) =>
      expect
        .poll(() => {
          const all = runs.inSession(sessionKeyOf(target));
          return [all.length, all[0]?.startedAt !== undefined];
        }, patience)
        .toEqual([count, true]),
  };
}

it('jupyter-mcp-server 249: a run of 10 minutes: a handle when the wait is over, then the result', async () => {
  const { clock, run, read, until, letGo, inLine } = await chatOnKernel();
  const answer = run(`${until('go')}6 * 7`);
  await inLine(1);
  await clock.advance(30_000);
  expect(await answer).toMatch(/Still running, for 30\.0 s\.\nNo output\.\n\n.*handle is "run_1"/);
  await clock.advance(4 * MINUTE);
  expect(await read({ handle: 'run_1' })).toContain('Still running, for 4 min 30 s.');
  const end = read({ handle: 'run_1', waitSeconds: 600 });
  await clock.advance(5.5 * MINUTE);
  letGo('go');
  expect(await end).toMatch(/^Done after 10 min 0 s, exit code 0\.\nOutput:\n42$/);
});

it('vscode-jupyter 17119: a call while the kernel sleeps 600 s: a handle and the partial output, the rest later', async () => {
  const { clock, run, read, until, letGo, hasPut } = await chatOnKernel();
  const answer = run(`print("begun")\n${until('go')}print("over")`, { waitSeconds: 5 });
  await hasPut('run_1', 'begun\n'.length);
  await clock.advance(5_000);
  expect(await answer).toMatch(/Still running.*\nOutput:\nbegun\n/);
  await clock.advance(10 * MINUTE);
  const rest = read({ handle: 'run_1', waitSeconds: 60 });
  letGo('go');
  expect(await rest).toMatch(/^Done after 10 min 5 s[^]*from character 6 on:\nover$/);
});

it('jupyter-mcp-server 307: a call whose wait is over goes on, and a second one queues', async () => {
  const { clock, run, read, until, letGo, inLine } = await chatOnKernel();
  const first = run(`${until('go')}order = ["first"]`, { waitSeconds: 5 });
  await inLine(1);
  await clock.advance(5_000);
  expect(await first).toContain('Still running');
  const second = run('order + ["second"]', { waitSeconds: 5 });
  await inLine(2);
  await clock.advance(5_000);
  expect(await second).toContain('Not started yet: 1 run of the session before it.');
  letGo('go');
  const end = await read({ handle: 'run_2', waitSeconds: 60 });
  expect(end).toMatch(/^Done.*\nOutput:\n\['first', 'second'\]$/);
});
