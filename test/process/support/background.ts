import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../src/base/clock';
import { silentLog } from '../../../src/base/log';
import {
  BackgroundRunsHere,
  type BackgroundRunsHereParts,
} from '../../../src/editor/background/backgroundRunsHere';
import { keyOf } from '../../../src/editor/background/session';
import { createTranscript } from '../../../src/editor/panel/transcript';
import type { KernelHosting } from '../../../src/hosting';
import type { ExecutionResult } from '../../../src/pool/types';
import type { BackgroundSnapshot, LaunchOptions } from '../../../src/runner/backgroundTypes';
import { sessionKeyOf } from '../../../src/editor/sessions/target';

export interface BackgroundWindow {
  readonly here: BackgroundRunsHere;
  readonly folder: string;
  /** What was recorded of runs that are over. */
  readonly records: ExecutionResult[];
  readonly failures: unknown[];
  launch(code: string, options?: LaunchOptions): Promise<string>;
  /** Resolves at the first state of a run that `is`; looked at when a run changes or prints. */
  until(id: string, is: (run: BackgroundSnapshot) => boolean): Promise<BackgroundSnapshot>;
  /** What its tab shows. */
  shown(id: string): string;
}

/** A window's background runs over real kernels. */
export function backgroundWindow(
  hosting: KernelHosting,
  folder: string,
  more: Partial<BackgroundRunsHereParts> = {},
): BackgroundWindow {
  const transcript = createTranscript();
  const records: ExecutionResult[] = [];
  const failures: unknown[] = [];
  const watchers = new Set<() => void>();
  const look = (): void => watchers.forEach((watcher) => watcher());
  transcript.onDidChange(() => queueMicrotask(look));
  let ids = 0;
  const here = new BackgroundRunsHere({
    ownerId: 'window:test',
    clock: systemClock,
    log: silentLog,
    transcript,
    door: { record: (_owner, _code, _options, result) => void records.push(result) },
    newId: () => `run-${++ids}`,
    folder: path.join(folder, 'background'),
    startTimeoutMs: () => 60_000,
    maxOutputBytes: () => 50_000,
    keep: (key, value) => hosting.keep(key, value),
    clearKept: () => Promise.resolve(),
    onEnd: () => undefined,
    onChange: look,
    onFailure: (error) => failures.push(error),
    startKernel: (request) =>
      hosting.startKernel({
        ...request,
        cwd: request.cwd || os.tmpdir(),
        language: 'python',
        interpreter: request.interpreter ?? 'python3',
        env: process.env,
        history: sessionKeyOf(request),
      }),
    ...more,
  });
  return {
    here,
    folder,
    records,
    failures,
    launch: async (code, options) =>
      (await here.launch(code, { cwd: os.tmpdir(), ownerId: 'window:test', ...options }))
        .executionId,
    until: (id, is) =>
      new Promise((resolve) => {
        const watcher = (): void => {
          const run = here.find(id);
          if (!run || !is(run)) return;
          watchers.delete(watcher);
          resolve(run);
        };
        watchers.add(watcher);
        watcher();
      }),
    shown: (id) => {
      const run = here.find(id);
      const { entries } = transcript.reader(run ? keyOf(run.request) : '').read();
      return entries
        .flatMap((entry) => (entry.kind === 'note' ? [] : (entry.output?.pieces ?? [])))
        .map((piece) => (piece.kind === 'text' ? piece.text : `<${piece.kind}>`))
        .join('');
    },
  };
}
