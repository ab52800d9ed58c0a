export interface ToolCall {
  readonly tool: string;
  readonly input: object;
}

/** What the scripted model does next: it calls a tool, or several at once, or it talks, which ends its answer. */
export type Step = ToolCall | { readonly calls: readonly ToolCall[] } | { readonly say: string };

/** What the model does from here on. */
export interface Script {
  readonly steps: readonly Step[];
  /** In requests with exactly this prompt. Undefined: in all that have no script of their own. */
  readonly prompt?: string | undefined;
}

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
