import { expect, it } from 'vitest';
import { silentLog } from '../../src/base/log';
import { createTranscript } from '../../src/editor/panel/transcript';
import type { RecordedRun } from '../../src/editor/records/shown';
import { keptKeys } from '../../src/editor/reload/keep';
import { takeUp, type TakeUpParts } from '../../src/editor/reload/takeUp';
import { SessionBook } from '../../src/editor/sessions/sessionBook';
import { sessionKeyOf } from '../../src/editor/sessions/target';
import type { SessionRecord } from '../../src/pool/records';
import { resultOf } from '../support/executionResult';

const session: SessionRecord = {
  id: 'session-1',
  sessionId: 'python:default',
  cwd: '/w',
  incarnation: 1,
  owners: [{ id: 'window:old', kind: 'explicit' }],
  execution: { id: 'run-1', ownerId: 'window:old', origin: 'person', queuedAt: 1, startedAt: 2 },
  queue: [],
};

it('a run that ended while nobody was there, and whose kernel is gone, is recorded as it ended', () => {
  const recorded: RecordedRun[] = [];
  const transcript = createTranscript();
  const key = sessionKeyOf(session);
  const reply = { status: 'ok', cancelled: false, timedOut: false, stdinRequested: false } as const;
  const events = [
    { n: 1, kernel: 'k', what: 'begun', execution: 'run-1', at: 3, code: '21' },
    { n: 2, kernel: 'k', what: 'finished', execution: 'run-1', at: 9, reply },
  ] as const;
  const taken = takeUp(
    {
      kept: new Map<string, unknown>([
        [keptKeys.window, 'window:old'],
        [keptKeys.session('session-1'), session],
      ]),
      histories: new Map([[key, events]]),
      holds: () => false,
      stopOthers: () => undefined,
      reattach: async () => undefined,
    },
    {
      ownerId: 'window:new',
      transcript,
      book: new SessionBook(),
      runs: { follow: () => undefined } as unknown as TakeUpParts['runs'],
      preludes: { takeUp: async (kernel) => kernel },
      otherPlaces: [],
      record(run) {
        recorded.push(run);
        // Else nothing could be kept of it.
        expect(transcript.shownRun(run.executionId ?? '')).toBeDefined();
      },
      log: silentLog,
    },
  );
  expect(taken.adopt?.map(({ execution }) => execution)).toEqual([undefined]);
  expect(recorded).toMatchObject([
    {
      ...{ executionId: 'run-1', ownerId: 'window:new', origin: 'person' },
      ...{ exitCode: 0, cancelled: false, endedAt: 9 },
    },
  ]);
});

it('a run that goes on over a reload is recorded when it ends, kept from agents as nobody knows better', async () => {
  const recorded: RecordedRun[] = [];
  const taken = takeUp(
    {
      kept: new Map<string, unknown>([
        [keptKeys.window, 'window:old'],
        [keptKeys.session('session-1'), session],
      ]),
      histories: new Map(),
      holds: () => true,
      stopOthers: () => undefined,
      reattach: async () => undefined,
    },
    {
      ownerId: 'window:new',
      transcript: createTranscript(),
      book: new SessionBook(),
      runs: { follow: () => undefined } as unknown as TakeUpParts['runs'],
      preludes: { takeUp: async (kernel) => kernel },
      otherPlaces: [],
      record: (run) => recorded.push(run),
      log: silentLog,
    },
  );
  const failed = Promise.reject(new Error('lost'));
  taken.onAdoptedRun?.({ id: 'session-1', executionId: 'run-0', result: failed });
  const result = Promise.resolve(resultOf({ output: '21\n', notes: ['well'] }));
  taken.onAdoptedRun?.({ id: 'session-1', executionId: 'run-1', result });
  await result;
  await Promise.resolve();
  expect(recorded).toMatchObject([
    {
      ...{ executionId: 'run-1', ownerId: 'window:new', origin: 'person' },
      ...{ exitCode: 0, notes: ['well'], excludeFromContext: true },
    },
  ]);
});
