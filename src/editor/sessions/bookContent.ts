import * as v from 'valibot';

const target = v.object({
  language: v.picklist(['python']),
  sessionId: v.string(),
  cwd: v.string(),
  // A missing one and an undefined one are the same on the way.
  interpreter: v.optional(v.string()),
  label: v.string(),
});

/** A session book as plain data. */
export const bookContent = v.object({
  targets: v.array(target),
  /** Documents and folders, each with the key of its session. */
  byDocument: v.array(v.tuple([v.string(), v.string()])),
  byFolder: v.array(v.tuple([v.string(), v.string()])),
  ofFolder: v.array(v.tuple([v.string(), v.string()])),
  names: v.array(v.tuple([v.string(), v.string()])),
});

export type BookContent = v.InferInput<typeof bookContent>;
