import * as v from 'valibot';
import { HoldfastError } from '../../base/errors';

const DEFAULT_WAIT_SECONDS = 30;
const LONGEST_WAIT_SECONDS = 600;
/**
 * Characters of code that a person can be asked about: editors cut a longer question off, at 100,000 characters, without
 * a word.
 */
const LONGEST_CODE = 50_000;
const LONGEST_RUN_SECONDS = 7 * 24 * 3_600;

/** What a model asks for when it runs code. */
export interface RunCodeInput {
  readonly code: string;
  /** As the model wrote it, in small letters. */
  readonly language: string;
  /** Name of a session; undefined: the developer's own. */
  readonly session: string | undefined;
  /** Limit of the wait for the run, ms. The run goes on when it has passed. */
  readonly waitMs: number;
  /** Limit of the run, ms from the call. Undefined: none. */
  readonly timeoutMs: number | undefined;
}

interface ReadOutputInput {
  readonly handle: string;
  /** Character of the output to begin at; negative: counted from its end; undefined: where the last answer ended. */
  readonly from: number | undefined;
  readonly waitMs: number;
}

/** What is wrong with a field, and what to do about it. */
const advice = {
  code: '"code" must be a string with the source code to run. Pass the code itself, not a file name.',
  language: '"language" must name the language of the code, such as "python".',
  session:
    '"session" must be the name of a session, as answers and the Sessions view give it. Leave it out to use the developer\'s own.',
  waitSeconds: `"waitSeconds" must be a number from 0 to ${LONGEST_WAIT_SECONDS}. Leave it out to wait ${DEFAULT_WAIT_SECONDS} seconds; a run that takes longer goes on, and holdfast_read_output reads the rest.`,
  timeoutSeconds: `"timeoutSeconds" must be a number above 0 and up to ${LONGEST_RUN_SECONDS}. Leave it out to let the run take as long as it needs.`,
  handle:
    '"handle" must be the handle that holdfast_run_code has answered with, such as "run_1a2b3c4d".',
  from: '"from" must be a whole number: the character of the output to begin at, or a negative one to count from its end. Leave it out to go on where the last answer ended.',
} as const;

const tooLong =
  `"code" is longer than the ${LONGEST_CODE.toLocaleString('en')} characters that a person can be shown and asked about. ` +
  'Run it in parts, or write it to a file of the workspace and run code that imports that.';

const seconds = (field: 'waitSeconds' | 'timeoutSeconds', least: number, most: number) =>
  v.nullish(
    v.pipe(
      v.number(advice[field]),
      v.minValue(least, advice[field]),
      v.maxValue(most, advice[field]),
    ),
  );
const filled = (field: keyof typeof advice) =>
  v.pipe(v.string(advice[field]), v.regex(/\S/, advice[field]));

const waitSeconds = seconds('waitSeconds', 0, LONGEST_WAIT_SECONDS);

const runCode = v.strictObject({
  code: v.pipe(filled('code'), v.maxLength(LONGEST_CODE)),
  language: filled('language'),
  session: v.nullish(filled('session')),
  waitSeconds,
  timeoutSeconds: seconds('timeoutSeconds', 0.001, LONGEST_RUN_SECONDS),
});

const readOutput = v.strictObject({
  handle: filled('handle'),
  from: v.nullish(v.pipe(v.number(advice.from), v.safeInteger(advice.from))),
  waitSeconds,
});

/** Throws `bad_input` that names the field and says what to pass instead. */
export function decodeRunCode(input: unknown): RunCodeInput {
  const { code, language, session, ...limits } = decode(runCode, input);
  return {
    code,
    language: language.trim().toLowerCase(),
    session: session?.trim(),
    waitMs: waitMsOf(limits.waitSeconds, DEFAULT_WAIT_SECONDS),
    timeoutMs: limits.timeoutSeconds ? limits.timeoutSeconds * 1_000 : undefined,
  };
}

/** The same; without `waitSeconds` it answers at once. */
export function decodeReadOutput(input: unknown): ReadOutputInput {
  const { handle, from, waitSeconds: wait } = decode(readOutput, input);
  return { handle: handle.trim(), from: from ?? undefined, waitMs: waitMsOf(wait, 0) };
}

function waitMsOf(given: number | null | undefined, otherwise: number): number {
  return (given ?? otherwise) * 1_000;
}

function decode<T extends v.ObjectEntries>(
  schema: v.StrictObjectSchema<T, undefined>,
  input: unknown,
): v.InferOutput<v.StrictObjectSchema<T, undefined>> {
  const parsed = v.safeParse(schema, input);
  if (parsed.success) return parsed.output;
  throw new HoldfastError('bad_input', complaint(parsed.issues[0], Object.keys(schema.entries)));
}

function complaint(issue: v.BaseIssue<unknown>, fields: readonly string[]): string {
  const key = issue.path?.[0]?.key;
  const known = `The fields are ${fields.map((field) => `"${field}"`).join(', ')}.`;
  if (typeof key !== 'string') return `The input must be an object. ${known}`;
  if (!(key in advice) || !fields.includes(key)) return `There is no field "${key}". ${known}`;
  return issue.type === 'max_length' ? tooLong : advice[key as keyof typeof advice];
}
