import { basename, extname } from 'node:path';
import * as v from 'valibot';
import { systemClock } from '../../base/clock';
import { HoldfastError } from '../../base/errors';
import type { PooledKernel, PreludeHelper } from '../../kernel/kernel';
import type { PreludeFile } from './prelude';

const MIME_TYPE = 'application/vnd.holdfast.helpers+json';
/** Shorter than what the pool waits: a look that hangs is interrupted, so that runs can go on. */
const LIMIT_MS = 8_000;

const Helpers = v.array(
  v.object({
    name: v.string(),
    signature: v.string(),
    docstring: v.string(),
    category: v.string(),
  }),
);

/**
 * What the files have defined in a kernel where they ran: public functions and classes that are still theirs, in the
 * order of the files. Their category is the last comment `# Category: …` above them, else the file's name. The kernel's
 * namespace stays as it is. Rejects when the kernel gives no answer.
 */
export async function introspectHelpers(
  kernel: PooledKernel,
  files: readonly PreludeFile[],
  nextId: () => string,
): Promise<readonly PreludeHelper[]> {
  if (files.length === 0) return [];
  let answer: unknown;
  const limit = new AbortController();
  const timer = systemClock.after(LIMIT_MS, () => limit.abort());
  try {
    await kernel.execute(snippet(files), {
      executionId: nextId(),
      signal: limit.signal,
      source: { file: '<helpers>', line: 1 },
      onOutput(output) {
        if (typeof output === 'object' && output.type === 'display')
          answer = output.data[MIME_TYPE] ?? answer;
      },
    });
  } finally {
    timer.dispose();
  }
  const parsed = v.safeParse(Helpers, answer);
  if (parsed.success) return parsed.output;
  throw new HoldfastError('protocol', "The kernel did not tell what its prelude's helpers are.");
}

/** One expression: nothing is bound in the namespace, and its value, None, is not shown. */
function snippet(files: readonly PreludeFile[]): string {
  const told = files.map(({ path, code }) => ({
    file: path,
    code,
    category: basename(path, extname(path)),
  }));
  const given = `{"main": globals(), "files": __import__("json").loads(${pythonString(JSON.stringify(told))}), "mime": ${pythonString(MIME_TYPE)}}`;
  return `exec(${pythonString(LOOK)}, ${given})`;
}

/** JSON's escapes are Python's too, but for characters beyond 16 bits. */
function pythonString(text: string): string {
  const escape = (character: string): string =>
    `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
  return JSON.stringify(text).replace(/[\u{7f}-\u{10ffff}]/gu, escape);
}

const LOOK = `
import ast, builtins, inspect, re

def definitions(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
        else:
            for field in ("body", "orelse", "finalbody"):
                yield from definitions(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from definitions(handler.body)

def category_at(line, lines, otherwise):
    for text in reversed(lines[:line]):
        found = re.match(r"\\s*#\\s*category:\\s*(.*\\S)", text, re.I)
        if found:
            return found.group(1)
    return otherwise

def is_from(value, file):
    if inspect.isclass(value):
        return value.__module__ == "__main__"
    try:
        code = getattr(inspect.unwrap(value), "__code__", None)
    except ValueError:
        return False
    if code is None:
        return callable(value) and not inspect.isbuiltin(value)
    return code.co_filename == file

def signature_of(value):
    try:
        text = str(inspect.signature(value))
    except Exception:
        return "(...)"
    return text if len(text) <= 300 else text[:299] + "\\u2026"

def first_line(value):
    text = getattr(value, "__doc__", None)
    lines = inspect.cleandoc(text).splitlines() if isinstance(text, str) else []
    return lines[0][:300] if lines else ""

helpers = {}
for each in files:
    try:
        tree = ast.parse(each["code"])
    except (SyntaxError, ValueError):
        continue
    lines = each["code"].splitlines()
    for node in definitions(tree.body):
        value = main.get(node.name)
        if node.name.startswith("_") or value is None or not is_from(value, each["file"]):
            continue
        helpers[node.name] = {
            "name": node.name,
            "signature": signature_of(value),
            "docstring": first_line(value),
            "category": category_at(node.lineno, lines, each["category"]),
        }
builtins.display({mime: list(helpers.values()), "text/plain": ""}, raw=True)
`;
