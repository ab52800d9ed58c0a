import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A folder of one test. */
export interface TemporaryWorkspace {
  readonly folder: string;
  remove(): void;
}

/** Makes a folder with the given files (path → text) in it. */
export function temporaryWorkspace(files: Readonly<Record<string, string>>): TemporaryWorkspace {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hf-folder-')));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  return { folder, remove: () => fs.rmSync(folder, { recursive: true, force: true }) };
}
