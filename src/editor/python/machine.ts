import { constants, promises as fs } from 'node:fs';
import { homedir } from 'node:os';
import type { Machine } from './interpreter';

/** The machine that the extension host runs on. */
export function thisMachine(env: NodeJS.ProcessEnv): Machine {
  return {
    platform: process.platform,
    home: homedir(),
    searchPath: env['PATH'] ?? env['Path'] ?? '',
    async isProgram(path) {
      try {
        await fs.access(path, constants.X_OK);
        return (await fs.stat(path)).isFile();
      } catch {
        return false;
      }
    },
    async isFolder(path) {
      try {
        return (await fs.stat(path)).isDirectory();
      } catch {
        return false;
      }
    },
    realFolder: (path) => fs.realpath(path),
  };
}
