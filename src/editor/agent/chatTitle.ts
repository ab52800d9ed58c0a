import * as v from 'valibot';

const LONGEST = 40;

const request = v.object({ message: v.object({ text: v.string() }) });

/** A line of the editor's log of a chat: all of it (kind 0), or a value that was set at a place in it (kind 1). */
const whole = v.object({
  kind: v.literal(0),
  v: v.object({ customTitle: v.optional(v.string()), requests: v.optional(v.array(v.unknown())) }),
});
const change = v.object({
  kind: v.literal(1),
  k: v.tuple([v.literal('customTitle')]),
  v: v.string(),
});
const added = v.object({
  kind: v.literal(2),
  k: v.tuple([v.literal('requests')]),
  v: v.array(v.unknown()),
});

/**
 * What the editor calls a chat, out of its file, whose form is documented nowhere: the title that it was given, else how its
 * first request begins. Undefined where neither can be told.
 */
export function titleIn(file: string): string | undefined {
  let given: string | undefined;
  let first: string | undefined;
  for (const line of file.split('\n')) {
    const isOf = /"customTitle"|"requests"/.test(line);
    const fact = isOf ? parsed(line) : undefined;
    if (v.is(whole, fact)) {
      given = fact.v.customTitle;
      first = textOf(fact.v.requests?.[0]);
    } else if (v.is(change, fact)) given = fact.v;
    else if (v.is(added, fact)) first ??= textOf(fact.v[0]);
  }
  return shortened(given) ?? shortened(first);
}

function textOf(value: unknown): string | undefined {
  return v.is(request, value) ? value.message.text : undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Half a line, as when the file is read while it is written: the next change tells.
    return undefined;
  }
}

function shortened(text: string | undefined): string | undefined {
  const line = text?.replace(/[\s\p{C}]+/gu, ' ').trim();
  if (!line) return undefined;
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).trimEnd()}…`;
}
