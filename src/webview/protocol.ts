import * as v from 'valibot';

/** The messages between the extension and the panel's page. Both ends parse what they get. */

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const streamName = v.picklist(['stdout', 'stderr']);
const mimeBundle = v.record(v.string(), v.unknown());

/** `left`: its window closed while it ran, and nobody saw its end. */
const runState = v.picklist(['queued', 'running', 'ok', 'error', 'cancelled', 'left', 'failed']);

/** What the panel can draw, the richest first. `text/plain` is the fallback and serves as the alternative text. */
export const shownMimeTypes = [
  'text/html',
  'image/svg+xml',
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'text/markdown',
  'text/latex',
  'application/json',
  'text/plain',
] as const;

export const piece = v.variant('kind', [
  v.object({ kind: v.literal('text'), name: streamName, text }),
  /** Left out here: complete lines, UTF-8 bytes of text, and displays. */
  v.object({ kind: v.literal('gap'), lines: count, bytes: count, displays: count }),
  v.object({
    kind: v.literal('display'),
    id: count,
    result: v.boolean(),
    data: mimeBundle,
    metadata: mimeBundle,
  }),
  v.object({ kind: v.literal('error'), name: text, value: text, traceback: text }),
  /** What a person answered to `input()`; a password comes as no text at all. */
  v.object({ kind: v.literal('answer'), prompt: text, text: v.nullable(text) }),
]);

const outputUpdate = v.object({
  /** Forget the pieces so far, then add these. */
  clear: v.boolean(),
  pieces: v.array(piece),
  /** New data of displays that are shown already. */
  displays: v.array(v.object({ id: count, data: mimeBundle, metadata: mimeBundle })),
  /** Of the whole stream, left-out parts included. */
  totalLines: count,
  totalBytes: count,
});

export const runHead = v.object({
  code: text,
  language: text,
  source: v.nullable(v.object({ file: text, line: count })),
  /** Who ran it, where that is not the person at this window. */
  owner: v.nullable(text),
  state: runState,
  queuedAt: v.number(),
  startedAt: v.nullable(v.number()),
  endedAt: v.nullable(v.number()),
  /** Why it could not run or ended early, in a sentence. */
  remark: v.nullable(text),
  /** Path of the full output. */
  artifact: v.nullable(text),
});

const entryUpdate = v.variant('kind', [
  v.object({
    kind: v.literal('run'),
    id: count,
    head: v.nullable(runHead),
    output: v.nullable(outputUpdate),
  }),
  /** Output that belongs to the session and to no run. */
  v.object({ kind: v.literal('loose'), id: count, output: v.nullable(outputUpdate) }),
  /** `dated`: the text ends with the time, and that with its day. */
  v.object({
    kind: v.literal('note'),
    id: count,
    text,
    at: v.number(),
    dated: v.optional(v.boolean()),
  }),
]);

const sessionHead = v.object({
  key: text,
  label: text,
  description: text,
  /** The kind of the pool's state, or `gone`; `earlier`: only kept of a session before this window. */
  state: text,
  /** Of an earlier one: when it was last written, ms since the epoch. */
  until: v.optional(v.number()),
});

const ask = v.object({ id: count, entry: count, prompt: text, password: v.boolean() });

const update = v.object({
  type: v.literal('update'),
  seq: count,
  /** The extension's clock, ms since the epoch: the page may run on another machine. */
  now: v.number(),
  /** Forget everything; this is the whole of the shown session. */
  reset: v.boolean(),
  shown: v.nullable(text),
  sessions: v.nullable(v.array(sessionHead)),
  entries: v.array(entryUpdate),
  /** Ids of entries that are no longer kept. */
  removed: v.array(count),
  /** Runs that were left out for want of room since the last clear. */
  droppedRuns: count,
  ask: v.nullable(ask),
  /** Key binding of "Run Selection", as a person reads it. */
  runKey: text,
  /** Why nothing can be run from here, or null when it can. */
  inputDisabled: v.nullable(text),
});

const toPanel = v.variant('type', [
  update,
  /** Into the input line at the caret, with the focus. */
  v.object({ type: v.literal('insertInput'), text }),
]);

const fromPanel = v.variant('type', [
  /** The page is there and knows nothing yet. */
  v.object({ type: v.literal('ready') }),
  /** Everything up to this update is on the screen. */
  v.object({ type: v.literal('ack'), seq: count }),
  v.object({ type: v.literal('run'), code: text, sessionKey: v.nullable(text) }),
  v.object({ type: v.literal('interrupt'), sessionKey: text }),
  v.object({ type: v.literal('helpers'), sessionKey: v.nullable(text) }),
  v.object({ type: v.literal('clear'), sessionKey: text }),
  v.object({ type: v.literal('show'), sessionKey: text }),
  v.object({ type: v.literal('reveal'), file: text, line: count }),
  v.object({ type: v.literal('answer'), ask: count, text: v.nullable(text) }),
  v.object({ type: v.literal('copy'), text }),
  /** Something could not be shown: for the log. */
  v.object({ type: v.literal('problem'), text }),
]);

export type RunState = v.InferOutput<typeof runState>;
export type Piece = v.InferOutput<typeof piece>;
export type OutputUpdate = v.InferOutput<typeof outputUpdate>;
export type RunHead = v.InferOutput<typeof runHead>;
export type EntryUpdate = v.InferOutput<typeof entryUpdate>;
export type SessionHead = v.InferOutput<typeof sessionHead>;
export type Ask = v.InferOutput<typeof ask>;
export type PanelUpdate = v.InferOutput<typeof update>;
export type ToPanel = v.InferOutput<typeof toPanel>;
export type FromPanel = v.InferOutput<typeof fromPanel>;

/** A message to the panel that is none of these. */
export interface NotUnderstood {
  readonly type: 'notUnderstood';
  /** Of an update: nothing comes after it until it is acknowledged. */
  readonly seq: number | undefined;
  readonly problem: string;
}

export function parseToPanel(message: unknown): ToPanel | NotUnderstood {
  const result = v.safeParse(toPanel, message);
  if (result.success) return result.output;
  const numbered = v.safeParse(v.object({ seq: count }), message);
  const seq = numbered.success ? numbered.output.seq : undefined;
  return { type: 'notUnderstood', seq, problem: v.summarize(result.issues) };
}

/** Undefined on anything else. */
export function parseFromPanel(message: unknown): FromPanel | undefined {
  const result = v.safeParse(fromPanel, message);
  return result.success ? result.output : undefined;
}
