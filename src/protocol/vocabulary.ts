import * as v from 'valibot';

/** The kernel vocabulary (src/kernel) as it travels: each schema's output is the type of the same name there. */

const mimeBundle = v.record(v.string(), v.unknown());

export const kernelOutput = v.variant('type', [
  v.object({
    type: v.literal('stream'),
    name: v.picklist(['stdout', 'stderr']),
    text: v.string(),
  }),
  v.object({
    type: v.literal('display'),
    data: mimeBundle,
    metadata: v.exactOptional(mimeBundle),
    displayId: v.exactOptional(v.string()),
  }),
  v.object({
    type: v.literal('updateDisplay'),
    displayId: v.string(),
    data: mimeBundle,
    metadata: v.exactOptional(mimeBundle),
  }),
  v.object({
    type: v.literal('result'),
    data: mimeBundle,
    metadata: v.exactOptional(mimeBundle),
  }),
  v.object({
    type: v.literal('error'),
    name: v.string(),
    value: v.string(),
    traceback: v.string(),
  }),
  v.object({ type: v.literal('clear'), wait: v.boolean() }),
  v.object({ type: v.literal('gap'), lines: v.number(), bytes: v.number() }),
]);

export const codeSource = v.object({ file: v.string(), line: v.number() });

export const executionReply = v.object({
  status: v.picklist(['ok', 'error']),
  cancelled: v.boolean(),
  timedOut: v.boolean(),
  stdinRequested: v.boolean(),
  killed: v.exactOptional(v.literal(true)),
  cwd: v.exactOptional(v.string()),
});

export const interruptVerdict = v.object({
  delivered: v.boolean(),
  target: v.string(),
  reason: v.exactOptional(v.string()),
});

export const shutdownOutcome = v.object({
  confirmed: v.boolean(),
  reason: v.exactOptional(v.string()),
});

export const withheldNames = v.object({
  sensitive: v.array(v.string()),
  unlisted: v.array(v.string()),
});

export const stopProgress = v.object({
  step: v.picklist(['ask', 'interrupt', 'terminate', 'kill', 'sweep']),
  startedAt: v.number(),
  deadline: v.number(),
});

export const kernelExit = v.object({
  code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  stderrTail: v.string(),
  summary: v.string(),
});

const happened = { n: v.number(), kernel: v.string() };

/** One thing in a session's history; `n` counts from 1 over all of it. */
export const historyEntry = v.variant('what', [
  v.object({
    ...happened,
    what: v.literal('begun'),
    execution: v.string(),
    at: v.number(),
    code: v.string(),
    source: v.exactOptional(codeSource),
  }),
  v.object({
    ...happened,
    what: v.literal('output'),
    execution: v.nullable(v.string()),
    output: kernelOutput,
  }),
  v.object({
    ...happened,
    what: v.literal('finished'),
    execution: v.string(),
    at: v.number(),
    reply: executionReply,
  }),
]);

export type HistoryEntry = v.InferOutput<typeof historyEntry>;
