/** What the scripted model does next: it calls a tool, or it talks, which ends its answer. */
export type Step = { readonly tool: string; readonly input: object } | { readonly say: string };

/**
 * An input with what the model has heard in place of `{{pattern}}`: the last match of the pattern, as a model would copy
 * a handle out of an earlier answer.
 */
export function fillIn(input: object, heard: readonly string[]): object {
  const text = JSON.stringify(input, (_key, value: unknown) =>
    typeof value === 'string'
      ? value.replace(/\{\{(.+?)\}\}/g, (_all, pattern: string) => lastMatch(pattern, heard))
      : value,
  );
  return JSON.parse(text) as object;
}

function lastMatch(pattern: string, heard: readonly string[]): string {
  const matches = [...heard.join('\n').matchAll(new RegExp(pattern, 'g'))];
  const last = matches.at(-1)?.[0];
  if (last === undefined) throw new Error(`nothing that was heard matches ${pattern}`);
  return last;
}
