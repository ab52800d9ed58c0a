import { isAbsolute } from 'node:path';
import * as v from 'valibot';
import type { BackgroundOptions, Output, RunOptions, SessionPlace } from '../../api';
import { HoldfastError } from '../../base/errors';
import type { ExecutionResult } from '../../pool/types';
import type { BeforeRunAnswer } from '../../runner/hooks';

const language = v.optional(v.picklist(['python']));
const folder = v.pipe(
  v.string(),
  v.check((path) => isAbsolute(path), 'is not an absolute path'),
);
const place = {
  language,
  cwd: v.optional(folder),
  name: v.optional(v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(100))),
  session: v.optional(v.string()),
};
const isOnePlace = ({ cwd, name, session }: SessionPlaceInput): boolean =>
  session === undefined || (cwd === undefined && name === undefined);
const ONE_PLACE = 'names a session, and a folder or a name besides';

interface SessionPlaceInput {
  readonly cwd?: string | undefined;
  readonly name?: string | undefined;
  readonly session?: string | undefined;
}

const sessionPlace = v.pipe(
  v.object(place),
  v.check((input) => isOnePlace(input), ONE_PLACE),
);
const runOptions = v.pipe(
  v.object({
    ...place,
    timeoutMs: v.optional(v.pipe(v.number(), v.finite(), v.gtValue(0))),
    signal: v.optional(v.instance(AbortSignal)),
    excludeFromContext: v.optional(v.boolean()),
    onOutput: v.optional(v.custom<(output: Output) => void>(isFunction, 'is no function')),
  }),
  v.check((input) => isOnePlace(input), ONE_PLACE),
);
const backgroundOptions = v.object({
  language,
  cwd: v.optional(folder),
  label: v.optional(v.string()),
  excludeFromContext: v.optional(v.boolean()),
});

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const bundle = v.record(v.string(), v.unknown());
const result = v.object({
  output: v.string(),
  exitCode: v.optional(v.pipe(v.number(), v.integer())),
  cancelled: v.boolean(),
  truncated: v.boolean(),
  totalLines: count,
  totalBytes: count,
  outputLines: count,
  outputBytes: count,
  displayOutputs: v.array(
    v.object({
      data: bundle,
      metadata: v.exactOptional(bundle),
      displayId: v.exactOptional(v.string()),
    }),
  ),
  stdinRequested: v.boolean(),
  notes: v.exactOptional(v.array(v.string())),
  artifact: v.exactOptional(v.string()),
});
const answer = v.nullish(v.object({ result: v.optional(result) }));

export type ParsedPlace = v.InferOutput<typeof sessionPlace>;
type ParsedRun = v.InferOutput<typeof runOptions>;
type ParsedBackground = v.InferOutput<typeof backgroundOptions>;

/** Everything that another extension hands over, none of it bound by our types. Each throws `bad_input`, naming it. */
export const parse = {
  code: (value: unknown, who: string): string => checked(v.string(), value, who, 'code'),
  place: (value: SessionPlace | undefined, who: string): ParsedPlace =>
    checked(sessionPlace, value ?? {}, who, 'place'),
  run: (value: RunOptions | undefined, who: string): ParsedRun =>
    checked(runOptions, value ?? {}, who, 'options'),
  background: (value: BackgroundOptions | undefined, who: string): ParsedBackground =>
    checked(backgroundOptions, value ?? {}, who, 'options'),
  answer(value: unknown, who: string): BeforeRunAnswer | undefined {
    const parsed = checked(answer, value, who, 'answer of its before-run hook');
    if (!parsed?.result) return undefined;
    const { exitCode, ...rest } = parsed.result;
    return { result: { ...rest, exitCode } satisfies ExecutionResult };
  },
};

function checked<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  who: string,
  what: string,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const at = [what, ...(issue.path?.map(({ key }) => String(key)) ?? [])].join('.');
  throw new HoldfastError('bad_input', `${who}: ${at}: ${issue.message}`);
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
