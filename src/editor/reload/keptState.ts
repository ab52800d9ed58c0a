import * as v from 'valibot';
import type { SessionRecord } from '../../pool/records';
import { runHead } from '../../webview/protocol';
import { bookContent, type BookContent } from '../sessions/bookContent';
import { keptKeys } from './keep';

const owner = v.object({
  id: v.string(),
  kind: v.picklist(['explicit', 'fallback', 'departed']),
});

const run = v.object({
  id: v.string(),
  ownerId: v.exactOptional(v.string()),
  origin: v.exactOptional(v.picklist(['person', 'tool', 'api'])),
  queuedAt: v.number(),
  startedAt: v.exactOptional(v.number()),
  deadlineAt: v.exactOptional(v.number()),
  code: v.exactOptional(v.string()),
  source: v.exactOptional(v.object({ file: v.string(), line: v.number() })),
});

const record = v.object({
  id: v.string(),
  sessionId: v.string(),
  cwd: v.string(),
  interpreter: v.exactOptional(v.string()),
  privateTo: v.exactOptional(v.string()),
  incarnation: v.number(),
  startedAt: v.exactOptional(v.number()),
  owners: v.array(owner),
  stop: v.exactOptional(
    v.object({
      claimedAt: v.number(),
      attempt: v.number(),
      nextTryAt: v.exactOptional(v.number()),
    }),
  ),
  execution: v.exactOptional(run),
  queue: v.array(run),
});

const shown = { place: v.number(), sessionKey: v.string(), sessionLabel: v.string() };

const shownEntry = v.variant('kind', [
  v.object({
    ...shown,
    kind: v.literal('run'),
    executionId: v.string(),
    /** Code that was sent is in the history. */
    head: v.object({ ...runHead.entries, code: v.nullable(v.string()) }),
  }),
  v.object({ ...shown, kind: v.literal('note'), text: v.string(), at: v.number() }),
]);

export type ShownEntry = v.InferOutput<typeof shownEntry>;

/** What the window before this one has left to know. */
interface KeptState {
  /** Its owner id. */
  readonly window: string | undefined;
  readonly book: BookContent | undefined;
  readonly records: readonly SessionRecord[];
  /** Runs and notes that its panel showed, in order. */
  readonly shown: readonly ShownEntry[];
}

/** What does not parse is left out: its kernel is then one that nobody holds. */
export function parseKept(kept: ReadonlyMap<string, unknown>): KeptState {
  const window = v.safeParse(v.string(), kept.get(keptKeys.window));
  const book = v.safeParse(bookContent, kept.get(keptKeys.book));
  return {
    window: window.success ? window.output : undefined,
    book: book.success ? book.output : undefined,
    records: parsedUnder(kept, keptKeys.session(''), record),
    shown: parsedUnder(kept, keptKeys.shown(''), shownEntry).sort((a, b) => a.place - b.place),
  };
}

function parsedUnder<Schema extends v.GenericSchema>(
  kept: ReadonlyMap<string, unknown>,
  prefix: string,
  schema: Schema,
): v.InferOutput<Schema>[] {
  return [...kept].flatMap(([key, value]) => {
    const parsed = v.safeParse(schema, key.startsWith(prefix) ? value : undefined);
    return parsed.success ? [parsed.output] : [];
  });
}

/** The record with one owner under another id. */
export function renameOwner(record: SessionRecord, from: string, to: string): SessionRecord {
  const rename = (id: string): string => (id === from ? to : id);
  const renameIn = <Run extends { readonly ownerId?: string }>(run: Run): Run =>
    run.ownerId === from ? { ...run, ownerId: to } : run;
  return {
    ...record,
    owners: record.owners.map((each) => ({ ...each, id: rename(each.id) })),
    queue: record.queue.map(renameIn),
    ...(record.execution && { execution: renameIn(record.execution) }),
    ...(record.privateTo !== undefined && { privateTo: rename(record.privateTo) }),
  };
}
