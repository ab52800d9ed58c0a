import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Language } from '../kernel/language';
import { pythonLaunch, type RunnerLaunch } from './embedded/python';

/** The embedded runners, as private copies: an update of the extension may delete its folder under a living host. */
export interface Runners {
  launch(language: Language, interpreter: string): RunnerLaunch;
}

export async function readRunners(runnersDir: string, folder: string): Promise<Runners> {
  const python = privateCopy(
    await readFile(path.join(runnersDir, 'runner.py')),
    path.join(folder, 'runner.py'),
  );
  return {
    launch(language, interpreter) {
      switch (language) {
        case 'python':
          return pythonLaunch(interpreter, python());
      }
    },
  };
}

/** Answers the path of a file with this text, written again whenever it is gone: temporary folders get cleaned. */
function privateCopy(text: Buffer, file: string): () => string {
  return () => {
    if (!existsSync(file)) {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text, { mode: 0o600 });
    }
    return file;
  };
}
