import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createTranscript } from '../../../src/editor/panel/transcript';
import { diskIn, type Disk } from '../../../src/editor/records/disk';
import type { KeptRun } from '../../../src/editor/records/keptRun';
import { defaultLimits, type RecordLimits } from '../../../src/editor/records/limits';
import { RecordFiles } from '../../../src/editor/records/recordFiles';
import { Records } from '../../../src/editor/records/records';
import { resultOf } from '../../support/executionResult';
import { ManualClock } from '../../support/manualClock';

export const small: RecordLimits = { ...defaultLimits, sessionRuns: 8, sessions: 3 };

export function temporaryFolder(): string {
  return path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'hf-records-')), 'transcripts');
}

export const header = (key: string) => ({ key, label: `label of ${key}`, language: 'python' });

export function keptRun(id: string, at = 1, text = `${id}\n`): KeptRun {
  return {
    what: 'run',
    id,
    code: `print('${id}')`,
    language: 'python',
    source: null,
    owner: null,
    ownerId: 'window:1',
    origin: 'person',
    state: 'ok',
    queuedAt: at,
    startedAt: at,
    endedAt: at + 1,
    remark: null,
    artifact: null,
    excludeFromContext: false,
    pieces: [{ kind: 'text', name: 'stdout', text }],
    after: [],
  };
}

export interface World {
  readonly transcript: ReturnType<typeof createTranscript>;
  readonly records: Records;
  readonly warnings: string[];
  readonly leftOut: Set<string>;
  readonly clock: ManualClock;
  mayKeep: boolean;
  /** A run from its beginning to its record. */
  run(
    id: string,
    options?: {
      key?: string;
      text?: string;
      excludeFromContext?: boolean;
      artifact?: string;
      isLeftBehind?: boolean;
    },
  ): void;
}

/** A window over a real folder, or over a disk that behaves otherwise. */
export function openWindow(
  folder: string,
  options: { writer?: string; disk?: Disk; limits?: RecordLimits } = {},
): World {
  const limits = options.limits ?? defaultLimits;
  const transcript = createTranscript();
  const warnings: string[] = [];
  const leftOut = new Set<string>();
  const clock = new ManualClock();
  const warn = (message: string): void => void warnings.push(message);
  const log = { trace: warn, debug: warn, info: warn, warn, error: warn };
  const disk = options.disk ?? diskIn(folder);
  const world: World = {
    transcript,
    warnings,
    leftOut,
    clock,
    mayKeep: true,
    records: new Records({
      files: new RecordFiles(disk, options.writer ?? 'w1', limits),
      transcript,
      leftOut,
      limits,
      mayKeep: async () => world.mayKeep,
      clock,
      log,
    }),
    run(id, { key = 'k', text = `${id}\n`, artifact = '', ...more } = {}) {
      const { excludeFromContext = false, isLeftBehind = false } = more;
      transcript.begin({
        ...{ executionId: id, sessionKey: key, sessionLabel: `label of ${key}` },
        ...{ code: `print('${id}')`, language: 'python', owner: null, queuedAt: 1 },
      });
      transcript.started(id, 2);
      transcript.output(id, { type: 'stream', name: 'stdout', text });
      const result = resultOf();
      world.records.record({
        ...result,
        ...{ executionId: id, ownerId: 'window:1', origin: 'person' },
        ...(artifact !== '' && { artifact }),
        ...{ excludeFromContext, endedAt: 3, isLeftBehind },
      });
      transcript.finished(id, { at: 3, result });
    },
  };
  transcript.onDidChangeLate((id) => world.records.keepAgain(id));
  return world;
}

/** What the panel would show of a session, in short. */
export function shownIn({ transcript }: World, key = 'k'): string[] {
  return transcript
    .reader(key)
    .read()
    .entries.map((entry) => {
      if (entry.kind === 'run') return entry.head?.code ?? '';
      return entry.kind === 'note' ? entry.text : 'loose';
    });
}
