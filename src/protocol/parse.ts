import * as v from 'valibot';
import { HoldfastError } from '../base/errors';

export type Schema = v.GenericSchema;

/** The value of what came from another process. Throws HoldfastError `protocol` that names what was wrong with it. */
export function parse<S extends Schema>(schema: S, input: unknown, what: string): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue);
  throw new HoldfastError(
    'protocol',
    `Not a valid ${what}${path === null ? '' : ` (at ${path})`}: ${issue.message}`,
  );
}
