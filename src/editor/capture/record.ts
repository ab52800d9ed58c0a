import * as v from 'valibot';

/** In hex. */
export const sha256Hex = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
export const captureId = v.pipe(v.string(), v.regex(/^[0-9A-Za-z-]+$/));

const state = v.object({
  bytes: v.number(),
  /** SHA-256 in hex. Absent: the file was too large, or could not be read. */
  sha256: v.exactOptional(sha256Hex),
  /** Its text is kept beside the record, under its hash. */
  isKept: v.boolean(),
});

const file = v.object({
  /** The workspace folder, absolute. */
  folder: v.string(),
  /** Within it, with slashes. */
  path: v.string(),
  kind: v.picklist(['created', 'changed', 'deleted']),
  before: v.exactOptional(state),
  after: v.exactOptional(state),
  /** The editor saved it while the run went on: the change may be the person's. */
  isSavedInEditor: v.exactOptional(v.literal(true)),
});

/** Where the changes of a capture come from, as it is kept on disk. Times are ms since the epoch. */
export const captureRecord = v.object({
  version: v.literal(1),
  id: captureId,
  code: v.string(),
  language: v.string(),
  /** Where the code stands. */
  source: v.exactOptional(v.object({ file: v.string(), line: v.number() })),
  executionId: v.string(),
  session: v.object({
    /** Absent: it had a kernel for itself. */
    id: v.exactOptional(v.string()),
    incarnation: v.exactOptional(v.number()),
    label: v.string(),
  }),
  startedAt: v.number(),
  endedAt: v.number(),
  /** Absent: cancelled, or it could not be run. */
  exitCode: v.exactOptional(v.number()),
  /** What kept it from being run. */
  failure: v.exactOptional(v.string()),
  files: v.array(file),
  /** In sentences, for people: what may be missing. */
  notes: v.array(v.string()),
});

export type CaptureRecord = v.InferOutput<typeof captureRecord>;
export type CapturedFile = v.InferOutput<typeof file>;
export type CapturedState = v.InferOutput<typeof state>;
