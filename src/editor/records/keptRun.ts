import * as v from 'valibot';
import { piece } from '../../webview/protocol';

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The first line of a file: whose runs the others are. */
const header = v.object({
  what: v.literal('session'),
  key: text,
  label: text,
  language: text,
});

/** A run that is over, as it was shown. Times are ms since the epoch. */
const keptRun = v.object({
  what: v.literal('run'),
  /** The execution id. */
  id: text,
  code: text,
  language: text,
  source: v.nullable(v.object({ file: text, line: count })),
  /** The name of who ran it; null: the person at the window. */
  owner: v.nullable(text),
  ownerId: text,
  origin: text,
  state: v.picklist(['ok', 'error', 'cancelled', 'left']),
  queuedAt: v.number(),
  startedAt: v.nullable(v.number()),
  endedAt: v.number(),
  remark: v.nullable(text),
  artifact: v.nullable(text),
  excludeFromContext: v.boolean(),
  pieces: v.array(piece),
  /** What the session put out after it that belongs to no run. */
  after: v.optional(v.array(piece), []),
});

export type Header = Omit<v.InferOutput<typeof header>, 'what'>;
export type KeptRun = v.InferOutput<typeof keptRun>;

interface KeptFile {
  readonly header: Header | undefined;
  readonly runs: KeptRun[];
  /** Lines that could not be read. */
  readonly damaged: number;
}

export function headerLine({ key, label, language }: Header): string {
  return `${JSON.stringify({ what: 'session', key, label, language })}\n`;
}

export function runLine(run: KeptRun): string {
  return `${JSON.stringify(run)}\n`;
}

/** A line that cannot be read is counted, and takes no other one with it. */
export function parseFile(content: string): KeptFile {
  const runs: KeptRun[] = [];
  let found: Header | undefined;
  let damaged = 0;
  for (const line of content.split('\n')) {
    if (line === '') continue;
    const value = parseLine(line);
    const run = v.safeParse(keptRun, value);
    if (run.success) {
      runs.push(run.output);
      continue;
    }
    const head = v.safeParse(header, value);
    if (head.success) found ??= head.output;
    else damaged += 1;
  }
  return { header: found, runs, damaged };
}

/** Of a file's beginning, which may end anywhere behind the first line. */
export function parseHeader(beginning: string): Header | undefined {
  const [line = ''] = beginning.split('\n', 1);
  const head = v.safeParse(header, parseLine(line));
  return head.success ? head.output : undefined;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Torn by a crash or a full disk: as unreadable as any other value that is no run.
    return undefined;
  }
}
