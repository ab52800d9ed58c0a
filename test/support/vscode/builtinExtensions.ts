import fs from 'node:fs';
import path from 'node:path';

/** What tests look at: languages, the default themes and icons. Without the other eighty a window opens in half the time. */
const lean = [
  'javascript',
  'json',
  'julia',
  'markdown-basics',
  'python',
  'ruby',
  'theme-defaults',
  'theme-seti',
  'typescript-basics',
];

/** A folder of links to a few of the server's built-in extensions, for `--builtin-extensions-dir`. */
export function leanBuiltinExtensions(server: string, into: string): string {
  fs.mkdirSync(into, { recursive: true });
  for (const name of lean) {
    fs.symlinkSync(path.join(server, 'extensions', name), path.join(into, name));
  }
  return into;
}
