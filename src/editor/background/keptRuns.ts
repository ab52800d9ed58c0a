import * as v from 'valibot';
import type { BackgroundRequest, BackgroundSnapshot } from '../../runner/backgroundTypes';
import { keptKeys } from '../reload/keep';

const request = v.object({
  executionId: v.string(),
  code: v.string(),
  startedAt: v.number(),
  ownerId: v.exactOptional(v.string()),
  ownerName: v.exactOptional(v.string()),
  origin: v.exactOptional(v.picklist(['person', 'tool', 'api'])),
  language: v.exactOptional(v.string()),
  cwd: v.exactOptional(v.string()),
  interpreter: v.exactOptional(v.string()),
  label: v.exactOptional(v.string()),
  source: v.exactOptional(v.object({ file: v.string(), line: v.number() })),
  excludeFromContext: v.exactOptional(v.boolean()),
});

const going = v.object({
  kind: v.literal('going'),
  request,
  phase: v.picklist(['starting', 'running']),
  artifact: v.exactOptional(v.string()),
  /** Bytes of its output that the file is without. */
  leftOut: v.number(),
});

const over = v.object({
  kind: v.literal('over'),
  request,
  status: v.picklist(['done', 'failed', 'interrupted']),
  interrupted: v.boolean(),
  error: v.exactOptional(v.string()),
  endedAt: v.number(),
  killed: v.exactOptional(v.literal(true)),
  artifact: v.exactOptional(v.string()),
});

export type GoingRun = v.InferOutput<typeof going>;
export type OverRun = v.InferOutput<typeof over>;

const kept = v.variant('kind', [going, over]);

/** The runs that the window before this one has left, oldest first; what it held is this window's, `ownerId`. */
export function parseKeptRuns(
  values: ReadonlyMap<string, unknown>,
  ownerId: string,
): readonly (GoingRun | OverRun)[] {
  const before = values.get(keptKeys.window);
  const prefix = keptKeys.background('');
  return [...values]
    .flatMap(([key, value]) => {
      const parsed = v.safeParse(kept, key.startsWith(prefix) ? value : undefined);
      return parsed.success ? [parsed.output] : [];
    })
    .map((run) =>
      run.request.ownerId === before ? { ...run, request: { ...run.request, ownerId } } : run,
    )
    .sort((a, b) => a.request.startedAt - b.request.startedAt);
}

/** Its output is kept elsewhere. */
export function overRunOf(snapshot: BackgroundSnapshot): OverRun | undefined {
  const { status, request: asked, interrupted, error, endedAt, killed, artifact } = snapshot;
  if (status === 'running' || endedAt === undefined) return undefined;
  return {
    kind: 'over',
    request: asked,
    status,
    interrupted,
    endedAt,
    ...(error !== undefined && { error }),
    ...(killed && { killed }),
    ...(artifact !== undefined && { artifact }),
  };
}

export function snapshotOf(run: OverRun, stdout: string): BackgroundSnapshot {
  const { request: asked, status, interrupted, error, endedAt, killed, artifact } = run;
  const of: BackgroundRequest = asked;
  return {
    executionId: of.executionId,
    status,
    done: true,
    stdout,
    interrupted,
    error,
    startedAt: of.startedAt,
    endedAt,
    request: of,
    ...(killed && { killed }),
    ...(artifact !== undefined && { artifact }),
  };
}
