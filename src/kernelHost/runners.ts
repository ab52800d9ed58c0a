import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Language } from '../kernel/language';
import { pythonLaunch, type RunnerLaunch } from './embedded/python';

/** The embedded runners, as private copies: an update of the extension may delete its folder under a living host. */
export interface Runners {
  launch(language: Language, interpreter: string): RunnerLaunch;
}

export async function copyRunners(runnersDir: string, folder: string): Promise<Runners> {
  const python = path.join(folder, 'runner.py');
  await writeFile(python, await readFile(path.join(runnersDir, 'runner.py')), { mode: 0o600 });
  return {
    launch(language, interpreter) {
      switch (language) {
        case 'python':
          return pythonLaunch(interpreter, python);
      }
    },
  };
}
